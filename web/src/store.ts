// What the page knows. Only feed.ts and main.tsx write it; the views read.
import { computed, signal } from "@preact/signals";
import { countStates } from "./states";
import type {
  Cluster, Explained, Frame, Happening, Job, JobDetail, Node, NodeDetail, Waiting, Who,
} from "./types";

export const cluster = signal<Cluster | null>(null);
export const frame = signal<Frame | null>(null);
/** In the order of the frame. */
export const nodes = signal<readonly Node[]>([]);
export const jobs = signal<readonly Job[] | null>(null);
export const queue = signal<readonly Waiting[] | null>(null);
/** Newest first, at most EVENTS_MAX. */
export const events = signal<readonly Happening[]>([]);
export const EVENTS_MAX = 500;
export const job = signal<JobDetail | null>(null);
export const explained = signal<Explained | null>(null);
export const node = signal<NodeDetail | null>(null);

export const signedOut = signal(false);
export const who = signal<Who | null>(null);
/** The last call that failed and why, by what was asked for; gone when it succeeds. */
export const troubles = signal<ReadonlyMap<string, string>>(new Map());
/** The job or node of the address is not there. */
export const missing = signal("");

/** Ticks once a second, for ages. */
export const now = signal(performance.now());
/** When the cluster and the frame were last answered, by this machine's steady clock. */
export const heard = signal(-Infinity);
/** How far the server's clock is ahead of this machine's. */
export const ahead = signal(0);
export const streaming = signal(false);

const STALE_S = 6;
export const age = computed(() => Math.max(0, (now.value - heard.value) / 1000));
export const stale = computed(() => cluster.value !== null && age.value > STALE_S);

export const counts = computed(() => countStates(frame.value?.states ?? new Uint8Array()));
/** Where in the frame a node is. */
export const places = computed(() => {
  const found = new Map<string, number>();
  nodes.value.forEach((one, index) => found.set(one.name, index));
  return found;
});

/** The server's time now, which is not this machine's, and in a twin not even today's. */
export function serverNow(): number {
  return now.value >= 0 ? Date.now() + ahead.value : 0;
}

export function forget(): void {
  cluster.value = frame.value = jobs.value = queue.value = null;
  job.value = explained.value = node.value = null;
  nodes.value = [];
  events.value = [];
  heard.value = -Infinity;
  troubles.value = new Map();
  missing.value = "";
}
