// Small things that several views show. What users named is always text, set apart for scripts
// that run from right to left.
import type { ComponentChildren } from "preact";
import { clock, count, plural, span, utc } from "./format";
import { jobAddress, nodeAddress, route, setQuery } from "./route";
import { toneOf } from "./states";
import { nodes, places, serverNow } from "./store";
import type { Happening } from "./types";

export function State({ name }: { name: string }) {
  return <span class={`state t${toneOf(name)}`}>{name}</span>;
}

export function JobLink({ id, children }: { id: number; children?: ComponentChildren }) {
  return <a href={jobAddress(id)}>{children ?? id}</a>;
}

export function NodeLink({ name }: { name: string }) {
  return <a href={nodeAddress(name)}><bdi class="given">{name}</bdi></a>;
}

export function User({ text }: { text: string | undefined }) {
  return <bdi class="given">{text ?? ""}</bdi>;
}

/** How long ago, with the time itself for whoever points at it. */
export function Ago({ ms }: { ms: number | undefined | null }) {
  if (!ms) return <span class="none">–</span>;
  return <time title={utc(ms)}>{span((serverNow() - ms) / 1000)} ago</time>;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function Filter({ hint, found, all }: { hint: string; found: number; all: number }) {
  return (
    <div class="filter" role="search">
      <label>
        Filter{" "}
        <input id="filter" type="search" spellcheck={false} autocomplete="off" placeholder={hint}
          value={route.value.query.get("q") ?? ""}
          onInput={(event) => setQuery("q", event.currentTarget.value)} />
      </label>
      <output class="number">
        {found === all ? count(all) : `${count(found)} of ${count(all)}`}
      </output>
    </div>
  );
}

/** What an event says, in words; strings and unknown shapes are shown as they come. */
export function words(event: unknown): ComponentChildren {
  if (typeof event !== "object" || event === null) return <User text={String(event)} />;
  const said = event as Partial<Happening> & { event?: string };
  const kind = said.kind ?? said.event;
  const why = said.reason ? <> — <User text={said.reason} /></> : null;
  if (kind === "node" || (said.name && said.state && said.id === undefined)) {
    return <><NodeLink name={said.name ?? "?"} /> is <State name={said.state ?? "?"} />{why}</>;
  }
  if (kind === "job" || said.state) {
    return (
      <>
        {said.id !== undefined && <JobLink id={said.id}>job {said.id}</JobLink>}{" "}
        <User text={said.name} /> is <State name={said.state ?? "?"} />
        {said.epoch !== undefined && <span class="soft"> epoch {said.epoch}</span>}{why}
      </>
    );
  }
  if (said.text || said.reason) return <User text={said.text ?? said.reason} />;
  const { seq: _seq, time_ms: _time, kind: _kind, ...rest } = said;
  return <User text={JSON.stringify(rest)} />;
}

export function EventList({ list, none }: { list: readonly unknown[]; none: string }) {
  if (list.length === 0) return <p class="empty">{none}</p>;
  return (
    <ol class="events">
      {list.map((one, index) => {
        const at = (one as Partial<Happening> | null)?.time_ms ?? 0;
        const seq = (one as Partial<Happening> | null)?.seq;
        return (
          <li key={seq ?? index} data-seq={seq}>
            <time title={utc(at)}>{clock(at)}</time>
            <span>{words(one)}</span>
          </li>
        );
      })}
    </ol>
  );
}

/** A line of an explanation: mostly text; what is not is shown whole. */
export function line(said: unknown): string {
  if (typeof said === "string") return said;
  if (typeof said === "object" && said !== null) {
    const { text, change, what } = said as Record<string, unknown>;
    const found = text ?? change ?? what;
    if (typeof found === "string") return found;
  }
  return JSON.stringify(said);
}

/** The leaves that the nodes lie under, in the order in which ranks reach them. */
function leavesOf(names: readonly string[]): string[] {
  const found = names.map((name) => nodes.value[places.value.get(name) ?? -1]?.leaf);
  return [...new Set(found.filter((leaf) => leaf !== undefined).map(String))];
}

export function NodeList({ names }: { names: readonly string[] }) {
  const leaves = leavesOf(names);
  return (
    <details class="nodelist" open={names.length <= 64}>
      <summary>
        {plural(names.length, "node")}, in rank order, under{" "}
        {plural(leaves.length, "leaf", "leaves")}: {leaves.join(", ")}
      </summary>
      <ol>{names.map((name) => <li key={name}><NodeLink name={name} /></li>)}</ol>
    </details>
  );
}
