// Where each GPU lies in the map: a node is a row of pixels, a leaf a block of rows, and the blocks
// are filled row by row. Arithmetic both ways, no element for a GPU.

export interface Layout {
  gpus: number;
  /** The nodes of each leaf, by their place in the frame. */
  leaves: readonly (readonly number[])[];
  /** Leaf and row in it of each node. */
  leafOf: Int32Array;
  rowOf: Int32Array;
  /** Columns of nodes in a block: a leaf of very many nodes is folded. */
  folds: number;
  rows: number;
  /** With the gap behind it. */
  blockWidth: number;
  blockHeight: number;
  columns: number;
  width: number;
  height: number;
  /** Screen pixels of a GPU. */
  scale: number;
}

export interface Spot {
  node: number;
  gpu: number;
}

const FOLD_ROWS = 64;
const SCALE_MAX = 18;
const GAP_MAX = 3;

/** Groups the nodes by leaf, in the order in which leaves first come. */
export function group(names: readonly (number | string)[]): number[][] {
  const found = new Map<number | string, number[]>();
  names.forEach((leaf, index) => {
    const members = found.get(leaf);
    if (members) members.push(index);
    else found.set(leaf, [index]);
  });
  return [...found.values()];
}

/** Before the names are known: leaves of equal size. */
export function groupEvenly(nodes: number, perLeaf: number): number[][] {
  const size = Math.max(1, perLeaf);
  const leaves: number[][] = [];
  for (let first = 0; first < nodes; first += size) {
    const length = Math.min(size, nodes - first);
    leaves.push(Array.from({ length }, (_, index) => first + index));
  }
  return leaves;
}

/** The number of columns that makes a GPU largest within the given width and height. */
function columnsFor(leaves: number, block: [number, number], box: [number, number]) {
  let best = { columns: 1, scale: 0, height: Infinity };
  for (let columns = 1; columns <= leaves; columns++) {
    const height = Math.ceil(leaves / columns) * block[1] - 1;
    const wide = Math.floor(box[0] / (columns * block[0] - 1));
    const high = Math.floor(box[1] / height);
    const scale = Math.min(wide, high, SCALE_MAX);
    if (scale > best.scale || (scale === best.scale && height < best.height)) {
      best = { columns, scale, height };
    }
    if (wide < 1) break;
  }
  return best;
}

export function arrange(leaves: number[][], gpus: number, width: number, height: number): Layout {
  const largest = leaves.reduce((most, leaf) => Math.max(most, leaf.length), 1);
  const folds = Math.ceil(largest / FOLD_ROWS);
  const rows = Math.ceil(largest / folds);
  const inner = folds * (gpus + 1) - 1;
  const blockHeight = rows + 1;
  const nodes = leaves.reduce((sum, leaf) => sum + leaf.length, 0);
  const leafOf = new Int32Array(nodes);
  const rowOf = new Int32Array(nodes);
  leaves.forEach((members, leaf) =>
    members.forEach((node, row) => {
      leafOf[node] = leaf;
      rowOf[node] = row;
    }),
  );
  const box: [number, number] = [width, height];
  const { columns, scale } = columnsFor(leaves.length, [inner + 1, blockHeight], box);
  // A GPU is a whole number of screen pixels; what is left of the width goes between the leaves.
  const left = Math.floor(width / Math.max(1, scale)) - columns * inner;
  const gap = Math.max(1, Math.min(GAP_MAX, Math.floor(left / Math.max(1, columns - 1))));
  const blockWidth = inner + gap;
  return {
    gpus, leaves, leafOf, rowOf, folds, rows, blockWidth, blockHeight, columns,
    width: Math.max(1, Math.min(columns, leaves.length) * blockWidth - gap),
    height: Math.max(1, Math.ceil(leaves.length / columns) * blockHeight - 1),
    scale: Math.max(1, scale),
  };
}

/** The pixel of a node's first GPU; the others follow to its right. */
export function pixelOf(layout: Layout, node: number): [number, number] {
  const leaf = layout.leafOf[node] ?? 0;
  const row = layout.rowOf[node] ?? 0;
  const fold = Math.floor(row / layout.rows);
  return [
    (leaf % layout.columns) * layout.blockWidth + fold * (layout.gpus + 1),
    Math.floor(leaf / layout.columns) * layout.blockHeight + (row % layout.rows),
  ];
}

/** The GPU at a pixel, or null in the gaps. */
export function spotAt(layout: Layout, x: number, y: number): Spot | null {
  if (x < 0 || y < 0 || x >= layout.width || y >= layout.height) return null;
  const column = Math.floor(x / layout.blockWidth);
  const inX = x % layout.blockWidth;
  if (inX >= layout.folds * (layout.gpus + 1) - 1) return null;
  const inY = y % layout.blockHeight;
  const gpu = inX % (layout.gpus + 1);
  if (gpu >= layout.gpus || inY >= layout.rows) return null;
  const leaf = Math.floor(y / layout.blockHeight) * layout.columns + column;
  const row = Math.floor(inX / (layout.gpus + 1)) * layout.rows + inY;
  const node = layout.leaves[leaf]?.[row];
  return node === undefined ? null : { node, gpu };
}

/** The next GPU in a direction, over gaps; the same one at the edge. */
export function step(layout: Layout, from: Spot, dx: number, dy: number): Spot {
  let [x, y] = pixelOf(layout, from.node);
  x += from.gpu;
  for (;;) {
    x += dx;
    y += dy;
    if (x < 0 || y < 0 || x >= layout.width || y >= layout.height) return from;
    const spot = spotAt(layout, x, y);
    if (spot) return spot;
  }
}
