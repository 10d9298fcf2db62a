// What pages read. An answer is kept while somebody looks at it, and asked for again when an event concerns it: nothing
// is asked for by the clock.
import { createContext, useCallback, useContext, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { LiveEvent } from "../api/types";
import type { Freshness } from "./line";
import type { Stream } from "./stream";

/** Events come in bursts: one question answers them all. */
export const GATHER_MS = 150;
/** While they go on, whoever answers has this many times as long for others as it took. */
const REST_TIMES = 4;
const SHORTEST_REST_MS = 500;
const LONGEST_REST_MS = 10_000;

/** How long to wait before something is asked for again: the first event after a quiet time is answered at once. */
export function pause(now: number, answeredAt: number, tookMs: number): number {
  const rest = Math.min(LONGEST_REST_MS, Math.max(SHORTEST_REST_MS, REST_TIMES * tookMs));
  return Math.max(GATHER_MS, answeredAt + rest - now);
}

export const StreamContext = createContext<Stream | null>(null);

export function useStream(): Stream {
  const stream = useContext(StreamContext);
  if (stream === null) throw new Error("a page outside of the session");
  return stream;
}

export function useFreshness(): Freshness {
  const stream = useStream();
  return useSyncExternalStore(stream.subscribe, () => stream.freshness);
}

export interface Answer<T> {
  data: T | undefined;
  error: Error | undefined;
  reload: () => void;
}

/** `concerns` says whether an event may change the answer; `key` is what is asked. */
export function useLive<T>(key: string, ask: () => Promise<T>, concerns: (event: LiveEvent) => boolean = () => true): Answer<T> {
  const stream = useStream();
  const [state, setState] = useState<{ key: string; data?: T; error?: Error }>({ key });
  const asking = useRef(ask);
  const caring = useRef(concerns);
  asking.current = ask;
  caring.current = concerns;
  const busy = useRef({ isAsking: false, isStale: false });
  const last = useRef({ answeredAt: -Infinity, tookMs: 0 });

  const load = useCallback(async () => {
    if (busy.current.isAsking) {
      busy.current.isStale = true;
      return;
    }
    busy.current.isAsking = true;
    do {
      if (busy.current.isStale) await new Promise((resolve) => setTimeout(resolve, pause(performance.now(), last.current.answeredAt, last.current.tookMs)));
      busy.current.isStale = false;
      const begun = performance.now();
      try {
        const data = await asking.current();
        setState({ key, data });
      } catch (error) {
        setState((old) => ({ ...(old.key === key ? old : { key }), error: error as Error }));
      }
      last.current = { answeredAt: performance.now(), tookMs: performance.now() - begun };
    } while (busy.current.isStale);
    busy.current.isAsking = false;
  }, [key]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void load();
      }, pause(performance.now(), last.current.answeredAt, last.current.tookMs));
    };
    busy.current = { isAsking: false, isStale: false };
    void load();
    const leave = [stream.onEvent((event) => caring.current(event) && soon()), stream.onReturn(soon)];
    return () => {
      clearTimeout(timer);
      for (const one of leave) one();
    };
  }, [stream, load]);

  const current = state.key === key ? state : undefined;
  return { data: current?.data, error: current?.error, reload: () => void load() };
}

export function ofKinds(...kinds: string[]): (event: LiveEvent) => boolean {
  return (event) => kinds.includes(event.kind);
}
