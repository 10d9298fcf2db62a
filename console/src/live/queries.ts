// What pages read. An answer is kept while somebody looks at it, and asked for again when an event concerns it: nothing
// is asked for by the clock.
import { createContext, useCallback, useContext, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { LiveEvent } from "../api/types";
import type { Freshness, Stream } from "./stream";

/** Events come in bursts: one question answers them all. */
export const GATHER_MS = 150;

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

  const load = useCallback(async () => {
    if (busy.current.isAsking) {
      busy.current.isStale = true;
      return;
    }
    busy.current.isAsking = true;
    do {
      busy.current.isStale = false;
      try {
        const data = await asking.current();
        setState({ key, data });
      } catch (error) {
        setState((old) => ({ ...(old.key === key ? old : { key }), error: error as Error }));
      }
    } while (busy.current.isStale);
    busy.current.isAsking = false;
  }, [key]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void load();
      }, GATHER_MS);
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
