// The frame around the views: one line of truth, the way to each view, sign-in and sign-out.
import { effect, signal } from "@preact/signals";
import { render, type ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { post, CallError } from "./api";
import { ring, signedIn, signOut, start } from "./feed";
import { count, percent, span } from "./format";
import { go, route, type View } from "./route";
import { MOVING } from "./states";
import * as store from "./store";
import type { Who } from "./types";
import { EventsView, JobsView, JobView, MapView, NodesView, NodeView, QueueView } from "./views";

const NAV: readonly [View, string, string][] = [
  ["map", "#/", "Map"], ["jobs", "#/jobs", "Jobs"], ["queue", "#/queue", "Queue"],
  ["nodes", "#/nodes", "Nodes"], ["events", "#/events", "Events"],
];

function Figure({ id, value, children }: {
  id: string; value: string; children: ComponentChildren;
}) {
  return <span class="item"><b class="number" id={id}>{value}</b> {children}</span>;
}

/** Jobs, GPUs, nodes, and how old all this is. */
function Truth() {
  const has = store.cluster.value;
  if (!has) return <p class="truth"><span class="item">Asking the server …</span></p>;
  const jobs = has.job_states;
  const moving = MOVING.reduce((sum, state) => sum + (jobs[state] ?? 0), 0);
  const out = has.nodes - (has.node_states["healthy"] ?? 0);
  return (
    <p class="truth" aria-label="State of the cluster">
      <Figure id="running" value={count(jobs["running"] ?? 0)}>jobs running</Figure>
      <Figure id="waiting" value={count(jobs["queued"] ?? 0)}>waiting</Figure>
      {moving > 0 && <Figure id="moving" value={count(moving)}>starting or recovering</Figure>}
      <Figure id="busy" value={count(has.gpus_busy)}>
        of <span class="number" id="gpus">{count(has.gpus)}</span> GPUs busy
        <span class="soft"> {percent(has.gpus_busy, has.gpus)}</span>
      </Figure>
      <Figure id="out" value={count(out)}>
        of <span class="number" id="nodes">{count(has.nodes)}</span> nodes out
      </Figure>
      <Age />
    </p>
  );
}

function Age() {
  const old = store.stale.value;
  const word = old ? "stale" : store.streaming.value ? "live" : "polled";
  return (
    <span class={`item age ${old ? "old" : ""}`} id="age" role="status"
      aria-live={old ? "polite" : "off"}>
      <span aria-hidden="true">{old ? "⚠" : "●"}</span> {word}, data{" "}
      <span class="number">{span(store.age.value)}</span> old
    </span>
  );
}

function Head() {
  const has = store.cluster.value;
  const { view } = route.value;
  return (
    <header>
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        document.getElementById("main")?.focus();
      }}>Skip to the content</a>
      <div class="bar">
        <a class="brand" href="#/">Myriad</a>
        <span class="where">
          <bdi id="cluster">{has?.name}</bdi>
          {has && <span class="world" id="world">
            {has.world}{has.world === "twin" && <span class="wide">: simulated</span>}</span>}
          <span class="soft" id="version">{has?.version}</span>
        </span>
        <nav aria-label="Views">
          {NAV.map(([name, address, title]) => (
            <a key={name} href={address} aria-current={view === name ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <span class="account">
          {store.who.value && <span class="soft wide">
            <bdi>{store.who.value.user}</bdi>, {store.who.value.role}</span>}
          <button type="button" id="logout" onClick={() => void logOut()}>Sign out</button>
        </span>
      </div>
      <Truth />
    </header>
  );
}

function Troubles() {
  const all = [...store.troubles.value];
  if (!all.length) return null;
  return (
    <div class="troubles" role="alert">
      {all.map(([what, why]) => <p key={what}><b>{what}</b>: <bdi>{why}</bdi></p>)}
    </div>
  );
}

function Content() {
  const { view, item } = route.value;
  switch (view) {
    case "map": return <MapView />;
    case "jobs": return item ? <JobView /> : <JobsView key="jobs" />;
    case "queue": return <QueueView />;
    case "nodes": return item ? <NodeView /> : <NodesView key="nodes" />;
    case "events": return <EventsView />;
  }
}

const refused = signal("");
const busy = signal(false);

async function logIn(form: HTMLFormElement): Promise<void> {
  const field = form.elements.namedItem("token") as HTMLInputElement;
  busy.value = true;
  refused.value = "";
  try {
    const who = await post<Who>("/v1/login", { token: field.value.trim() });
    field.value = "";
    store.who.value = who;
    sessionStorage.setItem("who", JSON.stringify(who));
    signedIn();
  } catch (error) {
    const why = error instanceof CallError ? error : null;
    refused.value = why ? [why.message, why.hint].filter(Boolean).join(" — ") : String(error);
    field.select();
  } finally {
    busy.value = false;
  }
}

async function logOut(): Promise<void> {
  try {
    await post("/v1/logout", {});
  } catch (error) {
    if (!(error instanceof CallError && error.status === 401)) {
      // The cookie may still be good: saying "signed out" would be untrue.
      store.troubles.value = new Map([["sign-out", "no answer; you are still signed in"]]);
      return;
    }
  }
  sessionStorage.removeItem("who");
  signOut();
}

function Login() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <main id="main" class="login" tabIndex={-1}>
      <form onSubmit={(event) => {
        event.preventDefault();
        void logIn(event.currentTarget);
      }}>
        <h1>Myriad</h1>
        <p>Sign in with a token. The first one lies in <code>admin.token</code> of the server's
          folder; an administrator makes others.</p>
        <label for="token">Token</label>
        <input id="token" name="token" type="password" autocomplete="current-password" required
          ref={field} spellcheck={false} aria-invalid={refused.value !== ""}
          aria-describedby="refused" />
        <p id="refused" class="refused" role="alert">
          {refused.value && <>Not signed in: <bdi>{refused.value}</bdi></>}
        </p>
        <button type="submit" disabled={busy.value}>Sign in</button>
      </form>
    </main>
  );
}

function Page() {
  if (store.signedOut.value) return <Login />;
  return (
    <>
      <Head />
      <Troubles />
      <main id="main" tabIndex={-1}><Content /></main>
    </>
  );
}

/** Esc goes up: from an item to its list or the map, from a list to the map. "/" filters. */
function onKey(event: KeyboardEvent): void {
  const typing = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !typing) {
    const field = document.getElementById("filter");
    if (field) {
      field.focus();
      event.preventDefault();
    }
  } else if (event.key === "Escape" && !store.signedOut.value) {
    if (typing) (event.target as HTMLInputElement).blur();
    else if (route.value.item) go(`#/${route.value.view}`);
    else if (route.value.view !== "map") go("#/");
  }
}

function begin(): void {
  try {
    store.who.value = JSON.parse(sessionStorage.getItem("who") ?? "null") as Who | null;
  } catch {
    sessionStorage.removeItem("who");
  }
  effect(() => {
    document.documentElement.classList.toggle("stale", store.stale.value);
  });
  effect(() => {
    const has = store.cluster.value;
    const { view, item } = route.value;
    const where = item ? `${view === "jobs" ? "job" : "node"} ${item}` : view === "map" ? "" : view;
    document.title = [where, has?.name, "Myriad"].filter(Boolean).join(" · ");
  });
  document.addEventListener("keydown", onKey);
  addEventListener("online", ring);
  const root = document.getElementById("page");
  if (root) render(<Page />, root);
  start();
}

begin();
