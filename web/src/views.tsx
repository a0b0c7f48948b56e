// The views: one for each address.
import { matches, terms } from "./filter";
import { bytes, count, plural, span, utc } from "./format";
import { GpuMap } from "./map";
import {
  Ago, EventList, Fact, Filter, JobLink, line, NodeLink, NodeList, State, User,
} from "./parts";
import { route, setQuery } from "./route";
import { GPU_STATES, stateOf } from "./states";
import * as store from "./store";
import { Table, type Column } from "./table";
import type { Job, JobDetail, Node, NodeDetail, Waiting } from "./types";

function wanted() {
  return terms(route.value.query.get("q") ?? "");
}

function Loading() {
  return <p class="empty">On its way …</p>;
}

export function MapView() {
  const waiting = store.queue.value;
  return (
    <>
      <GpuMap />
      <div class="pair">
        <section aria-labelledby="latest">
          <h2 id="latest">Events <a class="soft" href="#/events">all</a></h2>
          <EventList list={store.events.value.slice(0, 14)} none="Nothing has happened yet." />
        </section>
        <section aria-labelledby="first">
          <h2 id="first">Waiting <a class="soft" href="#/queue">all</a></h2>
          {!waiting ? <Loading /> : waiting.length === 0
            ? <p class="empty">No job waits.</p>
            : <ol class="waiting">
                {waiting.slice(0, 8).map((one) => (
                  <li key={one.id}>
                    <JobLink id={one.id}>job {one.id}</JobLink> <User text={one.name} />
                    <span class="soft"> {plural(one.gpus, "GPU")}, {span(one.waited_s)}</span>
                    <div class="reason"><User text={one.reason} /></div>
                  </li>
                ))}
              </ol>}
        </section>
      </div>
    </>
  );
}

function figure<Row>(name: string, of: (row: Row) => number, wide = true): Column<Row> {
  return { name, right: true, wide, by: of, cell: (row) => count(of(row)) };
}

/** What a user wrote. */
function given<Row>(name: string, of: (row: Row) => string, wide = true): Column<Row> {
  return { name, wide, by: of, cell: (row) => <User text={of(row)} /> };
}

/** Its end, else its start, else when it came. */
const since = (job: Job) => job.ended_ms ?? job.started_ms ?? job.submitted_ms;

function jobNumber<Row extends { id: number }>(): Column<Row> {
  return { name: "job", right: true, by: (row) => row.id, cell: (row) => <JobLink id={row.id} /> };
}

function jobName<Row extends { id: number; name: string }>(): Column<Row> {
  return {
    name: "name", by: (row) => row.name,
    cell: (row) => <JobLink id={row.id}><User text={row.name} /></JobLink>,
  };
}

const JOB_COLUMNS: readonly Column<Job>[] = [
  jobNumber(),
  jobName(),
  { name: "state", by: (job) => job.state, cell: (job) => <State name={job.state} /> },
  figure("GPUs", (job) => job.gpus, false),
  figure("nodes", (job) => job.nodes),
  given("tenant", (job) => job.tenant),
  given("user", (job) => job.user),
  figure("priority", (job) => job.priority),
  figure("epoch", (job) => job.epoch),
  figure("failures", (job) => job.failures),
  figure("step", (job) => job.step, false),
  figure("saved", (job) => job.saved_step),
  {
    name: "since", right: true, wide: true,
    by: (job) => since(job) ?? 0,
    cell: (job) => <Ago ms={since(job)} />,
  },
  given("why", (job) => job.reason),
];

export function JobsView() {
  const all = store.jobs.value;
  const asked = wanted();
  const rows = (all ?? []).filter((job) => matches({
    id: job.id, job: job.id, name: job.name, tenant: job.tenant, user: job.user, state: job.state,
    reason: job.reason,
  }, asked));
  const ended = route.value.query.get("all") !== null;
  return (
    <section aria-labelledby="title">
      <h1 id="title">Jobs</h1>
      <div class="tools">
        <Filter hint="state:running tenant:… name" found={rows.length} all={all?.length ?? 0} />
        <label class="tick">
          <input type="checkbox" checked={ended}
            onChange={(event) => setQuery("all", event.currentTarget.checked ? "1" : "")} />
          {" "}with those that have ended
        </label>
      </div>
      {all ? <Table label="Jobs" columns={JOB_COLUMNS} rows={rows} id={(job) => job.id}
               none={all.length ? "No job fits the filter." : "There is no job."} />
           : <Loading />}
    </section>
  );
}

function JobFacts({ job }: { job: JobDetail }) {
  return (
    <dl class="facts">
      <Fact name="state"><State name={job.state} /></Fact>
      <Fact name="GPUs">
        <b class="number">{count(job.gpus)}</b> on {plural(job.nodes, "node")}
      </Fact>
      <Fact name="epoch"><b class="number">{count(job.epoch)}</b></Fact>
      <Fact name="step"><b class="number">{count(job.step)}</b></Fact>
      <Fact name="saved step">
        <b class="number">{count(job.saved_step)}</b>
        {job.step > job.saved_step &&
          <span class="soft"> {count(job.step - job.saved_step)} behind</span>}
      </Fact>
      <Fact name="failures"><b class="number">{count(job.failures)}</b></Fact>
      <Fact name="tenant"><User text={job.tenant} /></Fact>
      <Fact name="user"><User text={job.user} /></Fact>
      <Fact name="priority"><b class="number">{count(job.priority)}</b></Fact>
      <Fact name="submitted">{utc(job.submitted_ms)}</Fact>
      <Fact name="started">{utc(job.started_ms)}</Fact>
      {job.ended_ms ? <Fact name="ended">{utc(job.ended_ms)}</Fact> : null}
      {job.reason ? <Fact name="why"><User text={job.reason} /></Fact> : null}
    </dl>
  );
}

function Lines({ said }: { said: readonly unknown[] }) {
  return (
    <ul class="why">{said.map((one, at) => <li key={at}><User text={line(one)} /></li>)}</ul>
  );
}

function Explanation() {
  const said = store.explained.value;
  if (!said) return null;
  return (
    <section aria-labelledby="explained">
      <h2 id="explained">Explained</h2>
      {said.why?.length
        ? <Lines said={said.why} />
        : <p class="empty">There is nothing to explain.</p>}
    </section>
  );
}

function newestFirst(list: readonly unknown[]): unknown[] {
  const at = (one: unknown) => (one as { seq?: number } | null)?.seq ?? 0;
  return [...list].reverse().sort((one, other) => at(other) - at(one));
}

export function JobView() {
  const { item } = route.value;
  const job = store.job.value;
  if (store.missing.value === item) return <Missing what={`no job ${item}`} back="#/jobs" />;
  return (
    <>
      <p class="crumbs"><a href="#/jobs">Jobs</a> / <span>{item}</span></p>
      <h1>Job {item} {job && <User text={job.name} />}</h1>
      {job ? <JobFacts job={job} /> : <Loading />}
      {/* A job without GPUs would only darken the map. */}
      {(!job || job.node_names?.length > 0) && <GpuMap />}
      {job && (
        <div class="pair">
          <div>
            <Explanation />
            <section aria-labelledby="jobnodes">
              <h2 id="jobnodes">Nodes</h2>
              {job.node_names?.length ? <NodeList names={job.node_names} />
                                      : <p class="empty">It has none now.</p>}
            </section>
            {job.file && <details><summary>Job file</summary><pre>{job.file}</pre></details>}
          </div>
          <section aria-labelledby="jobevents">
            <h2 id="jobevents">Events</h2>
            <EventList list={newestFirst(job.events ?? [])} none="None yet." />
          </section>
        </div>
      )}
    </>
  );
}

const QUEUE_COLUMNS: readonly Column<Waiting & { place: number }>[] = [
  figure("#", (one) => one.place, false),
  jobNumber(),
  jobName(),
  given("tenant", (one) => one.tenant),
  figure("GPUs", (one) => one.gpus, false),
  figure("priority", (one) => one.priority),
  {
    name: "waited", right: true, wide: true, by: (one) => one.waited_s,
    cell: (one) => span(one.waited_s),
  },
  given("why it waits", (one) => one.reason, false),
];

export function QueueView() {
  const all = store.queue.value;
  const asked = wanted();
  const rows = (all ?? []).map((one, index) => ({ ...one, place: index + 1 }))
    .filter((one) => matches({
      id: one.id, job: one.id, name: one.name, tenant: one.tenant, reason: one.reason,
    }, asked));
  return (
    <section aria-labelledby="title">
      <h1 id="title">Queue</h1>
      <div class="tools">
        <Filter hint="tenant:… name or reason" found={rows.length} all={all?.length ?? 0} />
      </div>
      {all ? <Table label="Queue" columns={QUEUE_COLUMNS} rows={rows} id={(one) => one.id}
               none={all.length ? "No job fits the filter." : "No job waits."} />
           : <Loading />}
    </section>
  );
}

function JobLinks({ ids }: { ids: readonly number[] }) {
  return <>{ids.map((id, index) => <>{index ? ", " : ""}<JobLink id={id} /></>)}</>;
}

const NODE_COLUMNS: readonly Column<Node>[] = [
  { name: "node", by: (node) => node.name, cell: (node) => <NodeLink name={node.name} /> },
  {
    name: "state", by: (node) => node.state,
    cell: (node) => <><State name={node.state} />{node.silent && <> <State name="silent" /></>}</>,
  },
  { name: "leaf", right: true, by: (node) => node.leaf, cell: (node) => node.leaf },
  {
    name: "busy", right: true, by: (node) => node.busy,
    cell: (node) => `${node.busy} of ${node.gpus}`,
  },
  { name: "jobs", by: (node) => node.jobs[0] ?? 0, cell: (node) => <JobLinks ids={node.jobs} /> },
  given("kind", (node) => node.kind),
  figure("boot", (node) => node.boot),
];

export function NodesView() {
  const all = store.nodes.value;
  const asked = wanted();
  const rows = all.filter((node) => matches({
    name: node.name, node: node.name, state: node.silent ? [node.state, "silent"] : node.state,
    leaf: node.leaf, job: node.jobs, kind: node.kind,
  }, asked));
  const states = Object.entries(store.cluster.value?.node_states ?? {});
  return (
    <section aria-labelledby="title">
      <h1 id="title">Nodes</h1>
      <div class="tools">
        <Filter hint="state:drained leaf:3 job:42 name" found={rows.length} all={all.length} />
        <span class="chips">
          {states.filter(([, number]) => number).map(([state, number]) => (
            <a key={state} href={`#/nodes?q=state:${encodeURIComponent(state)}`}>
              <State name={state} /> <span class="number">{count(number)}</span>
            </a>
          ))}
        </span>
      </div>
      {all.length || store.cluster.value?.nodes === 0
        ? <Table label="Nodes" columns={NODE_COLUMNS} rows={rows} id={(node) => node.id}
            none={all.length ? "No node fits the filter." : "No node has joined yet."} />
        : <Loading />}
    </section>
  );
}

function NodeGpus({ node }: { node: NodeDetail }) {
  const place = store.places.value.get(node.name);
  const frame = store.frame.value;
  if (place === undefined || !frame) return null;
  const chosen = route.value.query.get("gpu");
  return (
    <ol class="gpus" aria-label="GPUs of the node">
      {Array.from({ length: frame.gpusPerNode }, (_, gpu) => {
        const state = stateOf(frame.states[place * frame.gpusPerNode + gpu]);
        return (
          <li key={gpu} aria-current={chosen === String(gpu) ? "true" : undefined}>
            <span class={`swatch s${state}`} aria-hidden="true">{GPU_STATES[state]?.letter}</span>
            <span>GPU {gpu}<br /><span class="soft">{GPU_STATES[state]?.name}</span></span>
          </li>
        );
      })}
    </ol>
  );
}

function NodeFacts({ node }: { node: NodeDetail }) {
  const has = node.inventory;
  return (
    <dl class="facts">
      <Fact name="state">
        <State name={node.state} />{node.silent && <> <State name="silent" /></>}
      </Fact>
      <Fact name="GPUs busy"><b class="number">{node.busy} of {node.gpus}</b></Fact>
      <Fact name="jobs">{node.jobs.length ? <JobLinks ids={node.jobs} /> : "none"}</Fact>
      <Fact name="leaf">
        <a href={`#/nodes?q=leaf:${encodeURIComponent(node.leaf)}`}>{node.leaf}</a>
      </Fact>
      <Fact name="boot"><b class="number">{count(node.boot)}</b></Fact>
      <Fact name="kind"><User text={node.kind} /></Fact>
      {has?.gpu_kind ? <Fact name="GPU"><User text={has.gpu_kind} /></Fact> : null}
      {has?.cpus ? <Fact name="CPUs"><b class="number">{count(has.cpus)}</b></Fact> : null}
      {has?.memory_bytes ? <Fact name="memory">{bytes(has.memory_bytes)}</Fact> : null}
      {has?.serial ? <Fact name="serial"><User text={has.serial} /></Fact> : null}
      {node.reason ? <Fact name="why"><User text={node.reason} /></Fact> : null}
    </dl>
  );
}

export function NodeView() {
  const { item } = route.value;
  const node = store.node.value;
  if (store.missing.value === item) return <Missing what={`no node '${item}'`} back="#/nodes" />;
  const about = store.events.value.filter((one) => one.kind === "node" && one.name === item);
  return (
    <>
      <p class="crumbs"><a href="#/nodes">Nodes</a> / <bdi>{item}</bdi></p>
      <h1>Node <User text={item} /></h1>
      {node ? <><NodeFacts node={node} /><NodeGpus node={node} /></> : <Loading />}
      <GpuMap />
      <section aria-labelledby="nodeevents">
        <h2 id="nodeevents">Events since the page was opened</h2>
        <EventList list={about} none="None." />
      </section>
    </>
  );
}

export function EventsView() {
  const all = store.events.value;
  const asked = wanted();
  const rows = all.filter((one) => matches({
    kind: one.kind, name: one.name, state: one.state, job: one.kind === "job" ? one.id : undefined,
    text: one.text ?? one.reason,
  }, asked));
  return (
    <section aria-labelledby="title">
      <h1 id="title">Events</h1>
      <div class="tools">
        <Filter hint="kind:node state:drained name" found={rows.length} all={all.length} />
        <span class="soft">times are UTC; the newest {store.EVENTS_MAX} are kept</span>
      </div>
      <EventList list={rows} none={all.length ? "No event fits." : "Nothing has happened yet."} />
    </section>
  );
}

function Missing({ what, back }: { what: string; back: string }) {
  return (
    <section>
      <h1>There is <User text={what} /></h1>
      <p><a href={back}>Back to the list</a></p>
    </section>
  );
}
