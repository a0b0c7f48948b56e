// The picture of all GPUs, its legend, and the table behind it.
import { computed, effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { count, plural } from "./format";
import {
  arrange, group, groupEvenly, pixelOf, spotAt, step, type Layout, type Spot,
} from "./layout";
import { paintMarks, paintPixels, readPalette, RIM, type Lit, type Window } from "./paint";
import { go, nodeAddress, route } from "./route";
import { GPU_STATES, stateOf } from "./states";
import * as store from "./store";

/** The room that the map may take, in screen pixels. */
const room = signal({ width: 0, height: 0 });
const zoom = signal(1);
const ZOOM_MAX = 8;
const cursor = signal<Spot | null>(null);
/** The state whose GPUs alone are lit, or -1. */
const only = signal(-1);
const palette = signal(readPalette());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  palette.value = readPalette();
});

const shape = computed(() => {
  const gpus = store.frame.value?.gpusPerNode || store.cluster.value?.gpus_per_node || 1;
  return { gpus, nodes: Math.floor((store.frame.value?.states.length ?? 0) / gpus) };
});

/** Changes only when leaves do, which is hardly ever; the lists behind it come every second. */
const leaves = computed(() => {
  const { nodes } = shape.value;
  const known = store.nodes.value;
  return known.length === nodes
    ? group(known.map((one) => one.leaf))
    : groupEvenly(nodes, store.cluster.value?.nodes_per_leaf ?? 1);
});

const layout = computed<Layout | null>(() => {
  const { width, height } = room.value;
  if (!width || !shape.value.nodes) return null;
  return arrange(leaves.value, shape.value.gpus, width, height);
});

/** The GPUs of the job that is open, as a mask for each node. */
const litMasks = computed<Map<number, number> | null>(() => {
  const { view, item } = route.value;
  if (view !== "jobs" || !item) return null;
  const masks = new Map<number, number>();
  const open = store.job.value;
  open?.node_names?.forEach((name, index) => {
    const place = store.places.value.get(name);
    if (place !== undefined) masks.set(place, open.node_gpus?.[index] ?? -1);
  });
  return masks;
});

const lit = computed<Lit>(() => {
  const masks = litMasks.value;
  const state = only.value;
  if (!masks && state < 0) return null;
  return (node, gpu, has) => {
    // Masks are plain numbers, and a node may have more than 32 GPUs: no shifts.
    const mask = masks ? masks.get(node) ?? 0 : -1;
    const mine = mask === -1 || Math.floor(mask / 2 ** gpu) % 2 === 1;
    return mine && (state < 0 || state === has);
  };
});

const chosen = computed(() => {
  const { view, item, query } = route.value;
  const node = view === "nodes" && item ? store.places.value.get(item) : undefined;
  if (node === undefined) return null;
  const gpu = query.get("gpu");
  return { node, gpu: gpu === null ? null : Number(gpu) };
});

function describe(spot: Spot): string {
  const about = store.nodes.value[spot.node];
  const state = stateOf(store.frame.value?.states[spot.node * shape.value.gpus + spot.gpu]);
  const { name = "", letter = "" } = GPU_STATES[state] ?? {};
  const words = [about?.name ?? `node ${spot.node}`, `GPU ${spot.gpu}`, `${letter} ${name}`];
  if (about) {
    words.push(`leaf ${about.leaf}`);
    if (about.jobs.length) words.push(`job ${about.jobs.join(", ")}`);
  }
  return words.join("  ·  ");
}

function open(spot: Spot | null): void {
  const about = spot && store.nodes.value[spot.node];
  if (about) go(nodeAddress(about.name, spot.gpu));
}

function resize(frame: HTMLElement): void {
  const width = Math.floor(frame.clientWidth);
  const height = Math.max(260, Math.floor(innerHeight * (width < 600 ? 0.66 : 0.54)));
  const old = room.value;
  if (old.width !== width || old.height !== height) room.value = { width, height };
}

class Painter {
  private pixelsDirty = true;
  private waiting = 0;

  constructor(
    private readonly pixels: HTMLCanvasElement,
    private readonly marks: HTMLCanvasElement,
    private readonly scroller: HTMLElement,
  ) {}

  /** Draws with the next picture of the screen, and only then. */
  soon(pixels: boolean): void {
    this.pixelsDirty ||= pixels;
    this.waiting ||= requestAnimationFrame(() => {
      this.waiting = 0;
      this.paint();
    });
  }

  stop(): void {
    cancelAnimationFrame(this.waiting);
  }

  /** A cluster that has lost its nodes has no picture, least of all the old one. */
  private clear(): void {
    for (const canvas of [this.pixels, this.marks]) canvas.width = canvas.height = 0;
    this.pixels.style.height = "0";
    this.pixelsDirty = true;
  }

  private paint(): void {
    const where = layout.peek();
    const frame = store.frame.peek();
    if (!where || !frame) {
      this.clear();
      return;
    }
    const colors = palette.peek();
    const cell = where.scale * zoom.peek();
    if (this.pixelsDirty) {
      paintPixels(this.pixels, where, frame.states, colors, lit.peek());
      this.pixels.style.width = `${where.width * cell}px`;
      this.pixels.style.height = `${where.height * cell}px`;
      this.scroller.style.maxHeight = `${Math.max(where.height * where.scale, 120) + 2}px`;
      // For whoever wants to find a GPU in the picture, such as the tests.
      Object.assign(this.pixels.dataset, {
        seq: String(frame.seq), columns: String(where.columns), rows: String(where.rows),
        folds: String(where.folds), gpus: String(where.gpus), cell: String(cell),
        block: String(where.blockWidth),
      });
      this.pixelsDirty = false;
    }
    const seen: Window = {
      cell, left: this.scroller.scrollLeft, top: this.scroller.scrollTop,
      width: this.scroller.clientWidth, height: this.scroller.clientHeight,
    };
    this.marks.style.width = `${seen.width + 2 * RIM}px`;
    this.marks.style.height = `${seen.height + 2 * RIM}px`;
    paintMarks(this.marks, where, frame.states, colors, lit.peek(), seen, {
      cursor: cursor.peek(), chosen: chosen.peek(), framed: [...(litMasks.peek()?.keys() ?? [])],
    });
  }
}

function spotUnder(event: MouseEvent): Spot | null {
  const where = layout.peek();
  const canvas = event.currentTarget as HTMLElement;
  if (!where) return null;
  const box = canvas.getBoundingClientRect();
  const cell = where.scale * zoom.peek();
  return spotAt(where, Math.floor((event.clientX - box.left) / cell),
                Math.floor((event.clientY - box.top) / cell));
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
};

/** Where a key leads from here, or null when it leads nowhere. */
function moved(where: Layout, key: string): Spot | null {
  const from = cursor.peek() ?? { node: chosen.peek()?.node ?? 0, gpu: 0 };
  const arrow = ARROWS[key];
  if (arrow) return cursor.peek() ? step(where, from, arrow[0], arrow[1]) : from;
  const leaf = where.leafOf[from.node] ?? 0;
  const first = (at: number) => {
    const node = where.leaves[Math.max(0, Math.min(where.leaves.length - 1, at))]?.[0];
    return node === undefined ? null : { node, gpu: 0 };
  };
  switch (key) {
    case "Home": return { node: 0, gpu: 0 };
    case "End": return { node: where.leafOf.length - 1, gpu: where.gpus - 1 };
    case "PageUp": return first(leaf - 1);
    case "PageDown": return first(leaf + 1);
    default: return null;
  }
}

function setZoom(value: number): void {
  zoom.value = Math.max(1, Math.min(ZOOM_MAX, value));
}

/** Keeps the cursor in sight when the map is larger than its frame. */
function reveal(scroller: HTMLElement, where: Layout, spot: Spot): void {
  const cell = where.scale * zoom.peek();
  const [x, y] = pixelOf(where, spot.node).map((at) => at * cell) as [number, number];
  const left = x + spot.gpu * cell;
  const margin = 3 * cell;
  const clamp = (at: number, size: number, now: number) =>
    at - margin < now ? at - margin : at + margin > now + size ? at + margin - size : now;
  scroller.scrollLeft = clamp(left, scroller.clientWidth, scroller.scrollLeft);
  scroller.scrollTop = clamp(y, scroller.clientHeight, scroller.scrollTop);
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const where = layout.peek();
  if (!where) return;
  if (event.key === "Enter" && cursor.peek()) open(cursor.peek());
  else if (event.key === "+" || event.key === "=") setZoom(zoom.peek() * 2);
  else if (event.key === "-") setZoom(zoom.peek() / 2);
  else if (event.key === "Escape" && cursor.peek()) {
    cursor.value = null;
    event.stopPropagation();
  } else {
    const spot = moved(where, event.key);
    if (!spot) return;
    cursor.value = spot;
    reveal(event.currentTarget as HTMLElement, where, spot);
  }
  event.preventDefault();
}

/** Ties the canvases to the signals for as long as the map is there. */
function usePainter(
  frame: { current: HTMLDivElement | null }, scroller: { current: HTMLDivElement | null },
  pixels: { current: HTMLCanvasElement | null }, marks: { current: HTMLCanvasElement | null },
): void {
  useEffect(() => {
    if (!frame.current || !scroller.current || !pixels.current || !marks.current) return;
    const box = frame.current;
    const painter = new Painter(pixels.current, marks.current, scroller.current);
    const observer = new ResizeObserver(() => {
      resize(box);
      painter.soon(false);
    });
    observer.observe(box);
    const scrolled = () => painter.soon(false);
    scroller.current.addEventListener("scroll", scrolled, { passive: true });
    const stopPixels = effect(() => {
      void [layout.value, store.frame.value, palette.value, lit.value, zoom.value];
      painter.soon(true);
    });
    const stopMarks = effect(() => {
      void [cursor.value, chosen.value, litMasks.value];
      painter.soon(false);
    });
    return () => {
      observer.disconnect();
      stopPixels();
      stopMarks();
      painter.stop();
      cursor.value = null;
    };
  }, []);
}

const ABOUT =
  "GPUs in node order, a row for each node, a block for each leaf. Arrow keys move, Page Up and " +
  "Page Down go from leaf to leaf, Enter opens the node, plus and minus zoom, Escape leaves. " +
  "The same as a table is below.";

export function GpuMap() {
  const frame = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const pixels = useRef<HTMLCanvasElement>(null);
  const marks = useRef<HTMLCanvasElement>(null);
  usePainter(frame, scroller, pixels, marks);
  return (
    <section class="map" aria-label="Map of all GPUs">
      <div class="mapframe" ref={frame}>
        <div class="scroller" ref={scroller} tabIndex={0} role="application" onKeyDown={onKey}
          aria-roledescription="map" aria-describedby="readout"
          aria-label={ABOUT}>
          <canvas class="pixels" ref={pixels} aria-hidden="true"
            onPointerMove={(event) => { cursor.value = spotUnder(event); }}
            onPointerLeave={() => { cursor.value = null; }}
            onClick={(event) => open(spotUnder(event))} />
        </div>
        <canvas class="marks" ref={marks} aria-hidden="true" />
      </div>
      <div class="under">
        <Readout />
        <span class="zoom" role="group" aria-label="Zoom of the map">
          <button type="button" onClick={() => setZoom(zoom.value / 2)} disabled={zoom.value <= 1}
            aria-label="Zoom out">−</button>
          <span class="number">{zoom.value}×</span>
          <button type="button" onClick={() => setZoom(zoom.value * 2)}
            disabled={zoom.value >= ZOOM_MAX} aria-label="Zoom in">+</button>
        </span>
      </div>
      <Legend />
      <LeafTable />
    </section>
  );
}

function Readout() {
  const spot = cursor.value;
  const where = layout.value;
  const resting = where
    ? `${plural(where.leaves.length, "leaf", "leaves")}  ·  ` +
      `${plural(where.leafOf.length, "node")}, a row each  ·  ${where.gpus} GPUs a node`
    : store.cluster.value?.nodes === 0 ? "No node has joined yet." : "The map is on its way.";
  return <output id="readout" class="readout">{spot ? describe(spot) : resting}</output>;
}

/** Colour, letter, name and number; pressing one lights its GPUs alone. */
function Legend() {
  const counts = store.counts.value;
  return (
    <ul class="legend" aria-label="States of GPUs; press one to light its GPUs alone">
      {GPU_STATES.map((state, index) => (
        <li key={state.name}>
          <button type="button" aria-pressed={only.value === index}
            class={counts[index] ? "" : "none"}
            onClick={() => { only.value = only.value === index ? -1 : index; }}>
            <span class={`swatch s${index}`} aria-hidden="true">{state.letter}</span>
            {state.name} <b class="number" data-state={index}>{count(counts[index])}</b>
          </button>
        </li>
      ))}
    </ul>
  );
}

const tableOpen = signal(false);

const leafRows = computed(() => {
  const states = store.frame.value?.states;
  const { gpus } = shape.value;
  if (!tableOpen.value || !states) return [];
  return leaves.value.map((members) => {
    const sums = new Array<number>(GPU_STATES.length).fill(0);
    for (const node of members) {
      for (let gpu = 0; gpu < gpus; gpu++) {
        const state = stateOf(states[node * gpus + gpu]);
        sums[state] = (sums[state] ?? 0) + 1;
      }
    }
    const first = store.nodes.value[members[0] ?? 0];
    return { leaf: first?.leaf ?? "", first: first?.name ?? "", nodes: members.length, sums };
  });
});

function LeafTable() {
  return (
    <details class="behind" open={tableOpen.value}
      onToggle={(event) => { tableOpen.value = event.currentTarget.open; }}>
      <summary>The same as a table, leaf by leaf</summary>
      {tableOpen.value && (
        <div class="tablebox">
          <table>
            <thead>
              <tr>
                <th scope="col">leaf</th>
                <th scope="col">first node</th>
                <th scope="col" class="right">nodes</th>
                {GPU_STATES.map((state) => (
                  <th scope="col" class="right" key={state.name}>{state.letter} {state.name}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {leafRows.value.map((row) => (
                <tr key={row.leaf}>
                  <th scope="row">
                    <a href={`#/nodes?q=${encodeURIComponent(`leaf:${row.leaf}`)}`}>{row.leaf}</a>
                  </th>
                  <td><a href={nodeAddress(row.first)}><bdi>{row.first}</bdi></a></td>
                  <td class="right">{row.nodes}</td>
                  {row.sums.map((sum, state) => (
                    <td class={`right ${sum ? "" : "none"}`} key={state}>{sum}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
