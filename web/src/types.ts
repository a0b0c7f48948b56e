// The answers of the HTTP API, version 1, by the names that the page has for them. said.d.ts is
// made of docs/openapi.json: what the server says of itself.

import type { components } from "./said";

type Said = components["schemas"];

export type Cluster = Said["said_cluster"];
export type Node = Said["said_node"];
export type NodeDetail = Said["said_node_whole"];
export type Job = Said["said_job"];
export type JobDetail = Said["said_job_whole"];
export type Waiting = Said["said_waiting"];
export type Explained = Said["said_explained"];
export type Who = Said["said_who"];

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
