// One event stream a tab. It is taken up where it broke, and says how fresh what is shown is.
import { openStream, serverNow } from "../api/client";
import type { LiveEvent } from "../api/types";
import { SseParser } from "./sse";
import { FleetStore } from "./store";

export type Freshness = { state: "connecting" } | { state: "live" } | { state: "stale"; since: number };

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
/** The server sends a comment now and then; a line that is silent for longer is dead. */
const SILENCE = 45_000;

type Listener = (event: LiveEvent) => void;

export class Stream {
  freshness: Freshness = { state: "connecting" };
  readonly store = new FleetStore();
  private last: number | null = null;
  private stopped = new AbortController();
  private readonly listeners = new Set<Listener>();
  private readonly watchers = new Set<() => void>();
  private readonly returns = new Set<() => void>();

  start(): void {
    void this.run(this.stopped.signal);
  }

  stop(): void {
    this.stopped.abort();
  }

  onEvent(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Called when the line is there again and events may have been missed. */
  onReturn(listener: () => void): () => void {
    this.returns.add(listener);
    return () => this.returns.delete(listener);
  }

  readonly subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  private set(freshness: Freshness): void {
    this.freshness = freshness;
    for (const watcher of this.watchers) watcher();
  }

  private async run(signal: AbortSignal): Promise<void> {
    let pause = FIRST_PAUSE;
    let wasLive = false;
    while (!signal.aborted) {
      try {
        const answer = await openStream(this.last, signal);
        this.set({ state: "live" });
        if (wasLive) for (const listener of this.returns) listener();
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

  private take(kind: string, data: unknown): void {
    if (this.store.take(kind, data)) return;
    if (kind === "gap") {
      for (const listener of this.returns) listener();
      return;
    }
    for (const listener of this.listeners) listener(data as LiveEvent);
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
        this.take(message.event, JSON.parse(message.data));
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
