#!/usr/bin/env node
// A made-up cluster behind the HTTP API, for working on the page and for its test: 10,240 GPUs
// whose states change every second, and names that try to be markup. Without any package.
//
//   tests/web/stub.mjs [--port N] [--page FOLDER] [--nodes N] [--per-leaf N] [--seq N]
//
// Prints the address it listens on. The token is 'letmein'. --seq: where its events begin to count.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    page: { type: "string", default: fileURLToPath(new URL("../../web/dist", import.meta.url)) },
    nodes: { type: "string", default: "1280" },
    "per-leaf": { type: "string", default: "32" },
    seq: { type: "string", default: "1000" },
  },
});
const TOKEN = "letmein";
const GPUS = 8;
const PER_LEAF = Number(options["per-leaf"]);
const MARKUP = "<img src=x onerror=alert(1)>";
const NODES = Number(options.nodes);
const KEPT = 1000;

// One stream of numbers, the same every time.
let seed = 20260301;
function random() {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
}
const pick = (list) => list[Math.floor(random() * list.length)];

const NODE_BYTES = { suspect: 5, draining: 6, drained: 7, repair: 8, unknown: 0 };
const JOB_BYTES = { starting: 3, running: 2, saving: 4, recovering: 4, finishing: 2 };

let seq = Number(options.seq);
const log = [];
const listeners = new Set();
const nodes = Array.from({ length: NODES }, (_, id) => ({
  id, name: `n${String(id).padStart(4, "0")}`, state: "healthy", silent: false, gpus: GPUS, busy: 0,
  leaf: Math.floor(id / PER_LEAF), jobs: [], boot: 1 + (id % 3), kind: "hgx-h100", reason: "",
  owners: new Array(GPUS).fill(0),
}));
const jobs = new Map();
let nextJob = 40;

function tell(kind, data) {
  seq++;
  const entry = { seq, kind, data: { seq, time_ms: Date.now(), ...data } };
  log.push(entry);
  if (log.length > KEPT) log.shift();
  for (const listener of listeners) send(listener, entry);
}

function send(answer, { seq: id, kind, data }) {
  answer.write(`id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
}

function setJob(job, state, reason = "") {
  job.state = state;
  job.reason = reason;
  const event = { id: job.id, name: job.name, state, epoch: job.epoch, reason };
  job.events.push({ seq: seq + 1, time_ms: Date.now(), kind: "job", ...event });
  tell("job", event);
}

function setNode(node, state, reason) {
  node.state = state;
  node.reason = reason;
  tell("node", { name: node.name, state, reason });
}

function submit(gpus, name) {
  const id = ++nextJob;
  const job = {
    id, name: name ?? `${pick(["llama", "mixtral", "vision", "eval", "tune"])}-${id}`,
    tenant: pick(["research", "products", `<i>labs</i>`]), user: pick(["ada", "grace", "edsger"]),
    state: "queued", gpus, nodes: Math.ceil(gpus / GPUS), priority: Math.floor(random() * 5) * 10,
    epoch: 0, failures: 0, step: 0, saved_step: 0, submitted_ms: Date.now(), started_ms: 0,
    ended_ms: 0, reason: "", members: [], events: [],
  };
  jobs.set(id, job);
  setJob(job, "queued", `needs ${gpus} GPUs`);
  return job;
}

function freeOf(node) {
  const usable = node.state === "healthy" && !node.silent;
  return usable ? node.owners.filter((owner) => !owner).length : 0;
}

/** Gives the job GPUs from the first nodes that have any; false when there are too few. */
function place(job) {
  const members = [];
  let left = job.gpus;
  for (const node of nodes) {
    const free = freeOf(node);
    // Large jobs take empty nodes.
    if (!free || (job.gpus >= GPUS && free < GPUS)) continue;
    members.push(node);
    left -= Math.min(free, left);
    if (!left) break;
  }
  if (left) return false;
  left = job.gpus;
  for (const node of members) {
    for (let gpu = 0; gpu < GPUS && left; gpu++) {
      if (node.owners[gpu]) continue;
      node.owners[gpu] = job.id;
      node.busy++;
      left--;
    }
    node.jobs.push(job.id);
  }
  job.members = members;
  job.epoch++;
  job.started_ms = Date.now();
  setJob(job, "running");
  return true;
}

function release(job) {
  for (const node of job.members) {
    node.owners = node.owners.map((owner) => (owner === job.id ? 0 : owner));
    node.busy = node.owners.filter(Boolean).length;
    node.jobs = node.jobs.filter((id) => id !== job.id);
  }
  job.members = [];
}

function begin() {
  nodes[17].name = `n0017${MARKUP}`;
  nodes[17].kind = "<b>bold</b> kind";
  setNode(nodes[100], "drained", "asked for by ada: <script>alert(2)</script>");
  setNode(nodes[101], "draining", "ECC errors rise");
  setNode(nodes[333 % NODES], "repair", "GPU 3 fell off the bus");
  setNode(nodes[700 % NODES], "suspect", "blamed twice in an hour");
  nodes[901 % NODES].silent = true;
  for (const gpus of [4096, 2048, 1024, 512, 512, 256, 256, 128, 64, 64, 8, 4, 2]) {
    place(submit(gpus));
  }
  place(submit(100, MARKUP)); // the last of its nodes is shared
  const sick = [...jobs.values()][5];
  sick.failures = 2;
  setJob(sick, "recovering", "rank 17 lost: NCCL watchdog");
  setJob([...jobs.values()][8], "starting");
  submit(8192, `${MARKUP} again`);
  submit(6144);
  submit(2048);
  tell("notice", { text: "the made-up cluster has begun" });
}

/** A second of life: steps, a job that ends and one that comes, a node that falters. */
function live() {
  for (const job of jobs.values()) {
    if (job.state !== "running") continue;
    job.step += 1 + Math.floor(random() * 3);
    if (job.step - job.saved_step > 40) job.saved_step = job.step;
  }
  const node = pick(nodes.slice(200, 1200).filter((one) => !one.busy));
  if (node) {
    if (node.state === "healthy") setNode(node, pick(["suspect", "draining"]), "a test is due");
    else setNode(node, "healthy", "tests passed");
  }
  const moving = [...jobs.values()].filter((job) => job.state === "starting");
  for (const job of moving) setJob(job, "running");
  const small = [...jobs.values()].filter((job) => job.state === "running" && job.gpus <= 64);
  if (random() < 0.25 && small.length > 3) {
    const job = pick(small);
    release(job);
    job.ended_ms = Date.now();
    setJob(job, "done");
    const next = submit(pick([8, 16, 32, 64]));
    if (place(next)) setJob(next, "starting");
  }
  tell("doorbell", {});
}

function byteOf(node, gpu) {
  if (node.silent) return 9;
  const owner = jobs.get(node.owners[gpu]);
  if (node.state !== "healthy" && !(node.state === "draining" && owner)) {
    return NODE_BYTES[node.state] ?? 0;
  }
  return owner ? JOB_BYTES[owner.state] ?? 2 : node.state === "draining" ? 6 : 1;
}

function countBy(list) {
  const found = {};
  for (const one of list) found[one.state] = (found[one.state] ?? 0) + 1;
  return found;
}

function clusterView() {
  const busy = nodes.reduce((sum, node) => sum + node.busy, 0);
  const free = nodes.reduce((sum, node) => sum + freeOf(node), 0);
  return {
    name: "made-up & <b>marked</b>", world: "twin", version: "0.0.0", time_ms: Date.now(), seq,
    nodes: NODES, gpus: NODES * GPUS, gpus_per_node: GPUS, nodes_per_leaf: PER_LEAF,
    node_states: countBy(nodes), job_states: countBy(jobs.values()), gpus_busy: busy,
    gpus_free: free,
  };
}

const nodeView = ({ owners, reason, ...node }) => node;
const jobView = ({ members, events, ...job }) => job;

function jobDetail(job) {
  return {
    ...jobView(job), node_names: job.members.map((node) => node.name),
    node_gpus: job.members.map((node) =>
      node.owners.reduce((mask, owner, gpu) => mask + (owner === job.id ? 2 ** gpu : 0), 0)),
    file: `name: ${JSON.stringify(job.name)}\ngpus: ${job.gpus}\ncommand: python3 train.py\n`,
    events: job.events,
  };
}

function explain(job) {
  const leaves = new Set(job.members.map((node) => node.leaf)).size;
  return job.state === "queued"
    ? { why: [`${job.gpus} GPUs are asked for, ${clusterView().gpus_free} are free`,
              "jobs before it in line are not held up by it"],
        changes: [`with ${Math.floor(job.gpus / 2)} GPUs it would start now`] }
    : { why: [`it has its ${job.gpus} GPUs under ${leaves} leaves`],
        changes: [] };
}

const ROUTES = [
  [/^\/v1\/cluster$/, () => clusterView()],
  [/^\/v1\/nodes$/, () => ({ nodes: nodes.map(nodeView) })],
  [/^\/v1\/nodes\/([^/]+)$/, (name) => {
    const node = nodes.find((one) => one.name === name);
    return node && {
      ...nodeView(node), reason: node.reason,
      inventory: {
        cpus: 112, memory_bytes: 2 ** 41, gpu_kind: "H100 SXM", serial: `SN-${node.id}`,
      },
    };
  }],
  [/^\/v1\/jobs$/, (_, query) => ({
    jobs: [...jobs.values()].filter((job) => query.get("all") || !job.ended_ms).map(jobView),
  })],
  [/^\/v1\/jobs\/(\d+)$/, (id) => jobs.has(Number(id)) && jobDetail(jobs.get(Number(id)))],
  [/^\/v1\/jobs\/(\d+)\/explain$/, (id) => jobs.has(Number(id)) && explain(jobs.get(Number(id)))],
  [/^\/v1\/queue$/, () => ({
    queue: [...jobs.values()].filter((job) => job.state === "queued").map((job) => ({
      id: job.id, name: job.name, tenant: job.tenant, gpus: job.gpus, priority: job.priority,
      waited_s: Math.floor((Date.now() - job.submitted_ms) / 1000),
      reason: `${job.gpus} GPUs asked for, ${clusterView().gpus_free} free`,
    })),
  })],
];

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css",
                ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8" };

// What the real server sends with the page.
const POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

function json(answer, status, body, headers = {}) {
  answer.writeHead(status, { "Content-Type": "application/json", ...headers });
  answer.end(JSON.stringify(body));
}

async function file(answer, path) {
  const name = path === "/" ? "/index.html" : path;
  if (!/^\/(index\.html|assets\/[\w.-]+)$/.test(name)) {
    return json(answer, 404, { error: "no such page", hint: "" });
  }
  try {
    const body = await readFile(join(options.page, name));
    answer.writeHead(200, {
      "Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
      "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff",
    });
    answer.end(body);
  } catch {
    json(answer, 404, { error: "no such page", hint: "" });
  }
}

async function login(request, answer) {
  let text = "";
  for await (const part of request) text += part;
  let token = "";
  try {
    token = JSON.parse(text).token;
  } catch {
    return json(answer, 400, { error: "the body is no JSON", hint: "" });
  }
  if (token !== TOKEN) {
    return json(answer, 401, { error: "the token is not known", hint: "ask an administrator" });
  }
  const cookie = `myriad=${TOKEN}; HttpOnly; SameSite=Strict; Path=/`;
  json(answer, 200, { user: "ada<u>", role: "viewer" }, { "Set-Cookie": cookie });
}

function stream(request, answer, query) {
  const after = Number(request.headers["last-event-id"] ?? query.get("after") ?? seq);
  answer.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  answer.write("retry: 1000\n\n");
  // Some are sent again: the page has to know them by their numbers.
  for (const entry of log) if (entry.seq > after - 30) send(answer, entry);
  listeners.add(answer);
  answer.on("close", () => listeners.delete(answer));
}

function frame(answer) {
  const states = Buffer.alloc(NODES * GPUS);
  nodes.forEach((node, index) => {
    for (let gpu = 0; gpu < GPUS; gpu++) states[index * GPUS + gpu] = byteOf(node, gpu);
  });
  answer.writeHead(200, { "Content-Type": "application/octet-stream", "X-Myriad-Seq": String(seq),
                          "X-Myriad-Gpus-Per-Node": String(GPUS) });
  answer.end(states);
}

async function handle(request, answer) {
  const url = new URL(request.url, "http://stub");
  const { pathname: path, searchParams: query } = url;
  if (!path.startsWith("/v1/")) return file(answer, path);
  if (path === "/v1/login" && request.method === "POST") return login(request, answer);
  if (path === "/v1/logout" && request.method === "POST") {
    return json(answer, 200, {}, { "Set-Cookie": "myriad=; Max-Age=0; Path=/" });
  }
  const given = [request.headers.cookie, request.headers.authorization].join(" ");
  if (!given.includes(`myriad=${TOKEN}`) && !given.includes(`Bearer ${TOKEN}`)) {
    return json(answer, 401, { error: "sign in first", hint: "POST /v1/login" });
  }
  if (path === "/v1/events") return stream(request, answer, query);
  if (path === "/v1/frame") return frame(answer);
  for (const [pattern, make] of ROUTES) {
    const found = pattern.exec(path);
    if (!found) continue;
    const body = make(decodeURIComponent(found[1] ?? ""), query);
    if (body) return json(answer, 200, body);
  }
  return json(answer, 404, { error: "there is no such thing", hint: "" });
}

// A cluster without nodes is one that nobody has joined yet.
if (NODES) begin();
setInterval(live, 1000);
// A bell that rings more often than it should: the page has to pace itself.
setInterval(() => tell("doorbell", {}), 300);
const server = createServer((request, answer) => {
  handle(request, answer).catch((error) => {
    console.error(error);
    answer.destroy();
  });
});
server.listen(Number(options.port), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
