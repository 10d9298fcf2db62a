// One event stream a tab. It is taken up where it broke, and says how fresh what is shown is.
import { openStream } from "../api/client";
import type { LiveEvent } from "../api/types";
import { SseParser } from "./sse";

export type Freshness = { state: "connecting" } | { state: "live" } | { state: "stale"; since: number };

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
/** The server sends a comment now and then; a line that is silent for longer is dead. */
const SILENCE = 45_000;

type Listener = (event: LiveEvent) => void;

export class Stream {
  freshness: Freshness = { state: "connecting" };
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
      if (this.freshness.state !== "stale") this.set({ state: "stale", since: Date.now() });
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
      const piece = await Promise.race([reader.read(), silence()]);
      if (piece === null || piece.done) {
        void reader.cancel();
        return;
      }
      for (const message of parser.push(decoder.decode(piece.value, { stream: true }))) {
        if (message.id !== null) this.last = Number(message.id);
        const event = JSON.parse(message.data) as LiveEvent;
        for (const listener of this.listeners) listener(event);
      }
    }
  }
}

function silence(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), SILENCE));
}
