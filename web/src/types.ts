// The answers of the HTTP API, version 1, as far as the page reads them.

export interface Cluster {
  name: string;
  world: string;
  version: string;
  time_ms: number;
  seq: number;
  nodes: number;
  gpus: number;
  gpus_per_node: number;
  nodes_per_leaf: number;
  node_states: Record<string, number>;
  job_states: Record<string, number>;
  gpus_busy: number;
  gpus_free: number;
}

export interface Node {
  id: number;
  name: string;
  state: string;
  silent: boolean;
  gpus: number;
  busy: number;
  leaf: number | string;
  jobs: number[];
  boot: number;
  kind: string;
}

export interface NodeDetail extends Node {
  reason?: string;
  inventory?: { cpus?: number; memory_bytes?: number; gpu_kind?: string; serial?: string };
}

export interface Job {
  id: number;
  name: string;
  tenant: string;
  user: string;
  state: string;
  gpus: number;
  nodes: number;
  priority: number;
  epoch: number;
  failures: number;
  step: number;
  saved_step: number;
  submitted_ms: number;
  started_ms: number;
  ended_ms: number;
  reason: string;
}

export interface JobDetail extends Job {
  node_names: string[];
  /** A bit for each GPU that the job has on the node, in the order of node_names. */
  node_gpus?: number[];
  file?: string;
  events?: unknown[];
}

export interface Waiting {
  id: number;
  name: string;
  tenant: string;
  gpus: number;
  priority: number;
  waited_s: number;
  reason: string;
}

export interface Explained {
  why: unknown[];
  changes: unknown[];
}

/** What the event stream says; which fields are there depends on the kind. */
export interface Happening {
  kind: string;
  seq: number;
  time_ms: number;
  id?: number;
  name?: string;
  state?: string;
  epoch?: number;
  reason?: string;
  text?: string;
}

export interface Frame {
  seq: number;
  gpusPerNode: number;
  states: Uint8Array;
}

export interface Who {
  user: string;
  role: string;
}
