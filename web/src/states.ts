// What a byte of the frame means. Every state has a letter, so that colour never says it alone.

export interface GpuState {
  name: string;
  letter: string;
  /** Drawn hatched in the map: somebody may have to look. */
  fault: boolean;
}

export const GPU_STATES: readonly GpuState[] = [
  { name: "unknown", letter: "?", fault: false },
  { name: "free", letter: "·", fault: false },
  { name: "busy", letter: "B", fault: false },
  { name: "starting", letter: "S", fault: false },
  { name: "saving or recovering", letter: "R", fault: false },
  { name: "suspect", letter: "!", fault: true },
  { name: "draining", letter: "d", fault: true },
  { name: "drained", letter: "D", fault: true },
  { name: "repair", letter: "X", fault: true },
  { name: "silent", letter: "–", fault: true },
];

/** A byte that a newer server may send is shown as unknown, not dropped. */
export function stateOf(byte: number | undefined): number {
  return byte !== undefined && byte < GPU_STATES.length ? byte : 0;
}

/** How many GPUs are in each state. */
export function countStates(states: Uint8Array): number[] {
  const counts = new Array<number>(GPU_STATES.length).fill(0);
  for (const byte of states) {
    const state = stateOf(byte);
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

// Names of node and job states with the colour class of the frame state that is nearest.
const TONES: Record<string, number> = {
  unknown: 0, joining: 3, checking: 3, healthy: 1, suspect: 5, draining: 6, drained: 7, repair: 8,
  silent: 9, queued: 0, placing: 3, starting: 3, running: 2, saving: 4, recovering: 4, finishing: 4,
  done: 1, failed: 8, cancelled: 7,
};

export function toneOf(state: string): number {
  return TONES[state] ?? 0;
}

/** Jobs that neither run nor wait: something is being done about them. */
export const MOVING = ["placing", "starting", "saving", "recovering", "finishing"] as const;
