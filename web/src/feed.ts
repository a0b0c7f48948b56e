// Keeps the store fresh. The event stream is a doorbell: when it rings, the page asks for the
// frame, the cluster and the lists of the view that is open, at most once a second. While it is
// quiet, a call every few seconds proves that the server is still there: a connection can die in
// silence.
import { batch, effect, untracked } from "@preact/signals";
import * as api from "./api";
import { route } from "./route";
import * as store from "./store";
import type {
  Cluster, Explained, Happening, Job, JobDetail, Node, NodeDetail, Waiting,
} from "./types";

const PULL_MS = 1000;
const RETRY_MS = 2000;
const QUIET_MS = 4000;
const EXPLAIN_MS = 5000;
const NAMES_MS = 15_000;
/** Events from before the page was opened. */
const HISTORY = 200;

let source: EventSource | null = null;
let reopen: ReturnType<typeof setTimeout> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let pulling = false;
let rung = false;
let pulled = -Infinity;
let failing = false;
let lastSeq = 0;
let lastData = "";
/** Raised at sign-out: answers that were under way belong to nobody. */
let generation = 0;

const asked = new Map<string, number>();
const flying = new Set<string>();

function trouble(what: string, error: unknown): void {
  const found = error instanceof api.CallError ? error : new api.CallError(0, String(error));
  if (found.status === 401) {
    signOut();
    return;
  }
  const text = found.hint ? `${found.message} (${found.hint})` : found.message;
  store.troubles.value = new Map(store.troubles.value).set(what, text);
}

function fine(what: string): void {
  if (!store.troubles.value.has(what)) return;
  const left = new Map(store.troubles.value);
  left.delete(what);
  store.troubles.value = left;
}

/** Asks for a list unless that was done less than 'every' milliseconds ago, or is being done. */
async function want<T>(path: string, every: number, take: (answer: T) => void): Promise<void> {
  const at = performance.now();
  if (flying.has(path) || at - (asked.get(path) ?? -Infinity) < every) return;
  asked.set(path, at);
  flying.add(path);
  const mine = generation;
  try {
    const answer = await api.get<T>(path);
    if (mine !== generation) return;
    batch(() => take(answer));
    fine(path);
  } catch (error) {
    if (mine !== generation) return;
    const { item } = route.value;
    if (error instanceof api.CallError && error.status === 404 && item) {
      store.missing.value = item;
    } else {
      trouble(path, error);
    }
  } finally {
    flying.delete(path);
  }
}

function wantNodes(every: number): Promise<void> {
  return want<{ nodes: Node[] }>("/v1/nodes", every, (answer) => {
    store.nodes.value = answer.nodes.sort((one, other) => one.id - other.id);
  });
}

function wantJob(id: string, every: number): Promise<unknown> {
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  const still = () => route.value.view === "jobs" && route.value.item === id;
  return Promise.all([
    want<JobDetail>(path, every, (answer) => {
      if (still()) store.job.value = answer;
    }),
    want<Explained>(`${path}/explain`, every && EXPLAIN_MS, (answer) => {
      if (still()) store.explained.value = answer;
    }),
  ]);
}

/** What the open view shows; 'every' 0 when it has just been opened. */
function wantView(every: number): Promise<unknown> {
  const { view, item, query } = route.value;
  const known = store.nodes.value.length;
  // Twelve thousand nodes are a megabyte and a half: not every second.
  const nodesEvery = view === "nodes" && !item ? Math.max(PULL_MS, known / 2) : NAMES_MS;
  const names = wantNodes(known === store.cluster.value?.nodes ? nodesEvery : PULL_MS);
  const waiting = () =>
    want<{ queue: Waiting[] }>("/v1/queue", every, (answer) => {
      store.queue.value = answer.queue;
    });
  switch (view) {
    case "jobs": {
      if (item) return Promise.all([names, wantJob(item, every)]);
      const path = query.get("all") ? "/v1/jobs?all=1" : "/v1/jobs";
      return want<{ jobs: Job[] }>(path, every, (answer) => {
        store.jobs.value = answer.jobs;
      });
    }
    case "queue":
      return waiting();
    case "nodes":
      if (!item) return names;
      return Promise.all([
        names,
        want<NodeDetail>(`/v1/nodes/${encodeURIComponent(item)}`, every, (answer) => {
          if (route.value.item === item) store.node.value = answer;
        }),
      ]);
    case "events":
      return Promise.resolve();
    case "map":
      return Promise.all([names, waiting()]);
  }
}

async function pull(): Promise<void> {
  timer = undefined;
  pulling = true;
  rung = false;
  pulled = performance.now();
  const mine = generation;
  try {
    const [cluster, frame] = await Promise.all([api.get<Cluster>("/v1/cluster"), api.getFrame()]);
    if (mine !== generation) return;
    // Numbers that go back are those of another store: what was heard has nothing to do with it.
    const anew = cluster.seq < (store.cluster.value?.seq ?? 0);
    batch(() => {
      store.ahead.value = cluster.time_ms - Date.now();
      store.cluster.value = cluster;
      store.frame.value = frame;
      store.heard.value = store.now.value = performance.now();
      fine("server");
    });
    failing = false;
    if (!source || anew) listen(cluster.seq, anew);
    // Not waited for: a slow list must not hold up the map.
    void wantView(PULL_MS / 2);
  } catch (error) {
    if (mine !== generation) return;
    failing = true;
    trouble("server", error);
  } finally {
    pulling = false;
    if (rung) plan();
  }
}

function plan(): void {
  if (pulling || timer !== undefined || document.hidden || store.signedOut.value) return;
  const wait = pulled + (failing ? RETRY_MS : PULL_MS) - performance.now();
  timer = setTimeout(() => void pull(), Math.max(0, wait));
}

/** Something may have changed. */
export function ring(): void {
  rung = true;
  plan();
}

let fresh: Happening[] = [];
let flush: ReturnType<typeof setTimeout> | undefined;

/** Events come in bursts; the list is drawn once for a burst. */
function add(happening: Happening): void {
  fresh.push(happening);
  flush ??= setTimeout(() => {
    flush = undefined;
    store.events.value = [...fresh.reverse(), ...store.events.value].slice(0, store.EVENTS_MAX);
    fresh = [];
  }, 100);
}

function hear(kind: string, message: MessageEvent<string>): void {
  let said: Partial<Happening>;
  try {
    said = JSON.parse(message.data) as Partial<Happening>;
  } catch {
    return;
  }
  const seq = Number(message.lastEventId || said.seq || 0);
  // What a reconnect sends again is known already.
  if (seq < lastSeq || (seq === lastSeq && message.data === lastData)) return;
  lastSeq = seq;
  lastData = message.data;
  if (kind === "doorbell") ring();
  else add({ ...said, kind, seq, time_ms: Number(said.time_ms ?? 0) });
}

function listen(seq: number, anew: boolean): void {
  silence();
  if (lastSeq === 0 || anew) {
    lastSeq = Math.max(0, seq - HISTORY);
    lastData = "";
    store.events.value = [];
  }
  const stream = new EventSource(`/v1/events?after=${lastSeq}`);
  source = stream;
  for (const kind of ["node", "job", "notice", "doorbell"]) {
    stream.addEventListener(kind, (message) => hear(kind, message as MessageEvent<string>));
  }
  stream.onopen = () => {
    store.streaming.value = true;
    ring();
  };
  stream.onerror = () => {
    store.streaming.value = false;
    ring();
    // The browser comes back by itself after a lost connection, but not after a refusal.
    if (stream.readyState === EventSource.CLOSED && source === stream) {
      reopen ??= setTimeout(() => {
        reopen = undefined;
        source = null;
        ring();
      }, RETRY_MS);
    }
  };
}

function silence(): void {
  source?.close();
  source = null;
  clearTimeout(reopen);
  reopen = undefined;
  store.streaming.value = false;
}

export function signOut(): void {
  generation++;
  silence();
  lastSeq = 0;
  asked.clear();
  fresh = [];
  batch(() => {
    store.forget();
    store.who.value = null;
    store.signedOut.value = true;
  });
}

export function signedIn(): void {
  store.signedOut.value = false;
  failing = false;
  pulled = -Infinity;
  ring();
}

/** Another view: what the last one showed must not be taken for this one's. */
function opened(view: string, item: string): void {
  batch(() => {
    store.missing.value = "";
    if (view !== "jobs" || String(store.job.value?.id) !== item) {
      store.job.value = store.explained.value = null;
    }
    if (view !== "nodes" || store.node.value?.name !== item) store.node.value = null;
    if (view === "jobs" && !item) store.jobs.value = null;
  });
}

export function start(): void {
  setInterval(() => {
    store.now.value = performance.now();
    if (store.now.value - Math.max(store.heard.value, pulled) > QUIET_MS || failing) ring();
  }, 1000);
  document.addEventListener("visibilitychange", () => document.hidden || ring());
  let open = "";
  effect(() => {
    const { view, item, query } = route.value;
    const key = `${view}/${item}?${query.get("all") ?? ""}`;
    if (key === open) return; // only the filter has changed
    open = key;
    untracked(() => {
      opened(view, item);
      if (store.cluster.value) void wantView(0);
    });
  });
  ring();
}
