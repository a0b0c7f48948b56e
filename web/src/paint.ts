// Pixels of the map. The lower canvas has one pixel a GPU and is scaled by the browser; the upper
// one is as large as what is seen of it, and has what a pixel cannot say: hatches, letters, marks.
import { GPU_STATES, stateOf } from "./states";
import { pixelOf, spotAt, type Layout, type Spot } from "./layout";

export interface Palette {
  states: [number, number, number][];
  ground: [number, number, number];
  ink: string;
  accent: string;
}

const HATCH_FROM = 5;
const LETTERS_FROM = 14;
const GRID_FROM = 5;
/** How far the marks reach beyond the map: frames at its edge; as in the style sheet. */
export const RIM = 4;
/** How much of a colour is left where the light is elsewhere. */
const DIM = 0.22;

function channels(text: string): [number, number, number] {
  const value = parseInt(text.trim().slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** The colours of the style sheet, which knows dark and light. */
export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(name);
  return {
    states: GPU_STATES.map((_, state) => channels(read(`--s${state}`))),
    ground: channels(read("--ground")),
    ink: read("--ink").trim(),
    accent: read("--accent").trim(),
  };
}

function packed(color: [number, number, number], ground: [number, number, number], share: number) {
  const [r, g, b] = color.map((value, at) =>
    Math.round(value * share + (ground[at] ?? 0) * (1 - share)),
  ) as [number, number, number];
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** Is the GPU lit? Null lights everything. */
export type Lit = ((node: number, gpu: number, state: number) => boolean) | null;

export function paintPixels(
  canvas: HTMLCanvasElement, layout: Layout, states: Uint8Array, palette: Palette, lit: Lit,
): void {
  if (canvas.width !== layout.width) canvas.width = layout.width;
  if (canvas.height !== layout.height) canvas.height = layout.height;
  const context = canvas.getContext("2d");
  if (!context) return;
  const image = context.createImageData(layout.width, layout.height);
  const pixels = new Uint32Array(image.data.buffer);
  const bright = palette.states.map((color) => packed(color, palette.ground, 1));
  const dim = palette.states.map((color) => packed(color, palette.ground, DIM));
  for (let node = 0; node < layout.leafOf.length; node++) {
    const [x, y] = pixelOf(layout, node);
    for (let gpu = 0; gpu < layout.gpus; gpu++) {
      const state = stateOf(states[node * layout.gpus + gpu]);
      const table = !lit || lit(node, gpu, state) ? bright : dim;
      pixels[y * layout.width + x + gpu] = table[state] ?? 0;
    }
  }
  context.putImageData(image, 0, 0);
}

export interface Window {
  /** Screen pixels of a GPU, after zoom. */
  cell: number;
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Marks {
  cursor: Spot | null;
  /** The node of the address, and its GPU when it names one. */
  chosen: { node: number; gpu: number | null } | null;
  /** Nodes to be framed: those of the job that is open. */
  framed: readonly number[];
}

export function paintMarks(
  canvas: HTMLCanvasElement, layout: Layout, states: Uint8Array, palette: Palette, lit: Lit,
  seen: Window, marks: Marks,
): void {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round((seen.width + 2 * RIM) * ratio);
  canvas.height = Math.round((seen.height + 2 * RIM) * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  context.translate(RIM - seen.left, RIM - seen.top);
  context.save();
  context.beginPath();
  context.rect(seen.left, seen.top, seen.width, seen.height);
  context.clip();
  if (seen.cell >= GRID_FROM) paintGrid(context, layout, palette, seen);
  if (seen.cell >= HATCH_FROM) paintCells(context, layout, states, palette, lit, seen);
  context.restore();
  paintFrames(context, layout, palette, seen, marks);
}

/** Lines in the colour of the ground part the GPUs. */
function paintGrid(
  context: CanvasRenderingContext2D, layout: Layout, palette: Palette, seen: Window,
): void {
  const { cell } = seen;
  context.fillStyle = `rgb(${palette.ground.join(" ")})`;
  for (let x = 1; x < layout.width; x++) {
    context.fillRect(x * cell - 0.5, seen.top, cell >= 10 ? 1 : 0.6, seen.height);
  }
  for (let y = 1; y < layout.height; y++) {
    context.fillRect(seen.left, y * cell - 0.5, seen.width, 1);
  }
}

function paintCells(
  context: CanvasRenderingContext2D, layout: Layout, states: Uint8Array, palette: Palette,
  lit: Lit, seen: Window,
): void {
  const { cell } = seen;
  const letters = cell >= LETTERS_FROM;
  const lastX = Math.min(layout.width, Math.ceil((seen.left + seen.width) / cell));
  const lastY = Math.min(layout.height, Math.ceil((seen.top + seen.height) / cell));
  context.font = `600 ${Math.round(cell * 0.62)}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = Math.max(1, cell / 8);
  for (let y = Math.floor(seen.top / cell); y < lastY; y++) {
    for (let x = Math.floor(seen.left / cell); x < lastX; x++) {
      const spot = spotAt(layout, x, y);
      if (!spot) continue;
      const state = stateOf(states[spot.node * layout.gpus + spot.gpu]);
      const about = GPU_STATES[state];
      if (!about || (!about.fault && !letters)) continue;
      if (lit && !lit(spot.node, spot.gpu, state)) continue;
      const [r, g, b] = palette.states[state] ?? [0, 0, 0];
      const color = r * 0.299 + g * 0.587 + b * 0.114 > 140 ? "#000" : "#fff";
      if (letters) {
        context.fillStyle = color;
        context.fillText(about.letter, (x + 0.5) * cell, (y + 0.54) * cell);
      } else {
        context.strokeStyle = color;
        context.beginPath();
        context.moveTo(x * cell + 1, (y + 1) * cell - 1);
        context.lineTo((x + 1) * cell - 1, y * cell + 1);
        context.stroke();
      }
    }
  }
}

/** Nodes that lie under each other become one frame. */
function runs(layout: Layout, nodes: readonly number[]): { node: number; rows: number }[] {
  const found: { node: number; rows: number }[] = [];
  let last: [number, number] = [-1, -1];
  for (const node of [...nodes].sort((one, other) => one - other)) {
    const [x, y] = pixelOf(layout, node);
    const open = found[found.length - 1];
    if (open && x === last[0] && y === last[1] + 1) open.rows++;
    else found.push({ node, rows: 1 });
    last = [x, y];
  }
  return found;
}

function paintFrames(
  context: CanvasRenderingContext2D, layout: Layout, palette: Palette, seen: Window, marks: Marks,
): void {
  const { cell } = seen;
  const ground = `rgb(${palette.ground.join(" ")})`;
  const frame = (spot: { node: number; gpu: number | null; rows: number }, width: number,
                 color: string) => {
    const [x, y] = pixelOf(layout, spot.node);
    const half = width / 2;
    const long = spot.gpu === null ? layout.gpus : 1;
    context.lineWidth = width;
    context.strokeStyle = color;
    context.strokeRect((x + (spot.gpu ?? 0)) * cell - half, y * cell - half,
                       long * cell + width, spot.rows * cell + width);
  };
  if (cell >= GRID_FROM) {
    for (const run of runs(layout, marks.framed)) frame({ ...run, gpu: null }, 1.5, palette.ink);
  }
  if (marks.chosen) {
    frame({ node: marks.chosen.node, gpu: null, rows: 1 }, 5, ground);
    frame({ node: marks.chosen.node, gpu: null, rows: 1 }, 2, palette.ink);
    if (marks.chosen.gpu !== null) frame({ ...marks.chosen, rows: 1 }, 2, palette.ink);
  }
  if (marks.cursor) {
    frame({ ...marks.cursor, rows: 1 }, 4, ground);
    frame({ ...marks.cursor, rows: 1 }, 2, palette.accent);
  }
}
