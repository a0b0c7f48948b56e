// Every view has an address: #/jobs/42, #/nodes/NAME?gpu=3, #/nodes?q=state:drained.
import { signal } from "@preact/signals";

export type View = "map" | "jobs" | "queue" | "nodes" | "events";

export interface Route {
  view: View;
  /** A job's number or a node's name; empty for the list. */
  item: string;
  query: URLSearchParams;
}

const VIEWS: readonly string[] = ["jobs", "queue", "nodes", "events"];

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [first = "", ...rest] = path.split("/");
  const view = VIEWS.includes(first) ? (first as View) : "map";
  const named = view === "jobs" || view === "nodes";
  return { view, item: named ? decoded(rest.join("/")) : "", query: new URLSearchParams(query) };
}

export const route = signal<Route>(parse(location.hash));
addEventListener("hashchange", () => {
  route.value = parse(location.hash);
});

export function jobAddress(id: number | string): string {
  return `#/jobs/${id}`;
}

export function nodeAddress(name: string, gpu?: number): string {
  return `#/nodes/${encodeURIComponent(name)}${gpu === undefined ? "" : `?gpu=${gpu}`}`;
}

export function go(address: string): void {
  location.hash = address;
}

/** Changes a word of the address in place: a filter is no step in the history. */
export function setQuery(name: string, value: string): void {
  const now = route.value;
  const query = new URLSearchParams(now.query);
  if (value) query.set(name, value);
  else query.delete(name);
  const item = now.item ? "/" + encodeURIComponent(now.item) : "";
  const words = query.toString();
  const rest = words ? "?" + words : "";
  history.replaceState(null, "", `#/${now.view === "map" ? "" : now.view}${item}${rest}`);
  route.value = parse(location.hash);
}
