// One stream of events from the server. It is taken up where it broke, and tells how fresh what it gave is.
import { openStream, serverNow } from "../api/client";
import { SseParser } from "./sse";
import type { Everything } from "./store";
import type { Status } from "../api/types";

export type Freshness = { state: "connecting" } | { state: "live" } | { state: "stale"; since: number };

/** What whoever shows a workspace is told of it. */
export type Told =
  | { type: "freshness"; freshness: Freshness }
  /** The line is there again, and events may have been missed. */
  | { type: "returned" }
  /** As the server sent it; `data` is JSON. */
  | { type: "message"; kind: string; data: string }
  /** All there is, for who comes later. */
  | { type: "everything"; all: Everything; status: Status | undefined }
  | { type: "sessionEnded" };

export type Open = (workspace: string, after: number | null, signal: AbortSignal) => Promise<Response>;

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
/** The server sends a comment now and then; a line that is silent for longer is dead. */
const SILENCE = 45_000;

export class Line {
  freshness: Freshness = { state: "connecting" };
  private last: number | null = null;
  private readonly stopped = new AbortController();

  constructor(
    private readonly workspace: string,
    private readonly tell: (told: Told) => void,
    private readonly open: Open = openStream,
  ) {}

  start(): void {
    void this.run(this.stopped.signal);
  }

  stop(): void {
    this.stopped.abort();
  }

  private set(freshness: Freshness): void {
    this.freshness = freshness;
    this.tell({ type: "freshness", freshness });
  }

  private async run(signal: AbortSignal): Promise<void> {
    let pause = FIRST_PAUSE;
    let wasLive = false;
    while (!signal.aborted) {
      try {
        const answer = await this.open(this.workspace, this.last, signal);
        this.set({ state: "live" });
        if (wasLive) this.tell({ type: "returned" });
        wasLive = true;
        pause = FIRST_PAUSE;
        await this.read(answer, signal);
      } catch {
        // Said below: whatever ended the line, it is taken up again.
      }
      if (signal.aborted) return;
      if (this.freshness.state !== "stale") this.set({ state: "stale", since: serverNow() });
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
  }

  private async read(answer: Response, signal: AbortSignal): Promise<void> {
    const reader = answer.body?.getReader();
    if (reader === undefined) return;
    const parser = new SseParser();
    const decoder = new TextDecoder();
    while (!signal.aborted) {
      const silence = whenSilent();
      const piece = await Promise.race([reader.read(), silence.over]);
      silence.forget();
      if (piece === null || piece.done) {
        void reader.cancel();
        return;
      }
      for (const message of parser.push(decoder.decode(piece.value, { stream: true }))) {
        if (message.id !== null) this.last = Number(message.id);
        this.tell({ type: "message", kind: message.event, data: message.data });
      }
    }
  }
}

/** A machine that slept finds its timer over when it wakes, and takes the line up again at once. */
function whenSilent(): { over: Promise<null>; forget: () => void } {
  let timer: ReturnType<typeof setTimeout>;
  const over = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), SILENCE);
  });
  return { over, forget: () => clearTimeout(timer) };
}
