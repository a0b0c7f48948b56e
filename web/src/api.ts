// Calls of the HTTP API. The token lives in an HttpOnly cookie: no script can read it.
import type { Frame } from "./types";

const LIMIT_MS = 10_000;

export class CallError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint = "",
  ) {
    super(message);
  }
}

async function refusal(answer: Response): Promise<CallError> {
  let said: { error?: unknown; hint?: unknown } = {};
  try {
    said = (await answer.json()) as typeof said;
  } catch {
    // A proxy in between may answer with anything; the status has to do.
  }
  const message = typeof said?.error === "string" ? said.error : `answered ${answer.status}`;
  return new CallError(answer.status, message, typeof said?.hint === "string" ? said.hint : "");
}

async function call(path: string, options: RequestInit = {}): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      cache: "no-store",
      credentials: "same-origin",
      signal: AbortSignal.timeout(LIMIT_MS),
      ...options,
    });
  } catch {
    throw new CallError(0, "no answer from the server");
  }
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

export async function get<T>(path: string): Promise<T> {
  return (await (await call(path)).json()) as T;
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const answer = await call(path, { method: "POST", headers, body: JSON.stringify(body) });
  return (await answer.json()) as T;
}

export async function getFrame(): Promise<Frame> {
  const answer = await call("/v1/frame");
  return {
    seq: Number(answer.headers.get("X-Myriad-Seq") ?? 0),
    gpusPerNode: Number(answer.headers.get("X-Myriad-Gpus-Per-Node") ?? 0),
    states: new Uint8Array(await answer.arrayBuffer()),
  };
}
