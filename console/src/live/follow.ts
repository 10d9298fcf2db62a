// Something that is followed beside the stream of events: what a job prints, what a cluster holds.
import { useEffect, useState } from "react";
import { openFollowed, type Query, Refused } from "../api/client";
import { type Message, SseParser } from "./sse";

const PAUSE_MS = 1_000;

/** Until `onMessage` says that it is enough; a broken line is taken up after the last message that has an id. */
export async function follow(path: string, query: Query, signal: AbortSignal, onMessage: (message: Message) => boolean | void): Promise<void> {
  let last: number | null = null;
  while (!signal.aborted) {
    await whenSeen(signal);
    const line = whileSeen(signal);
    const answer = await opened(path, query, last, line);
    const reader = answer?.body?.getReader();
    const parser = new SseParser();
    const decoder = new TextDecoder();
    for (;;) {
      const piece = await reader?.read().catch(() => undefined);
      if (piece === undefined || piece.done) break;
      for (const message of parser.push(decoder.decode(piece.value, { stream: true }))) {
        if (message.id !== null) last = Number(message.id);
        if (onMessage(message)) return;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** A page that nobody sees holds no line: a browser has six of them for all its tabs. */
function whileSeen(signal: AbortSignal): AbortSignal {
  const over = new AbortController();
  const look = (): void => {
    if (document.visibilityState === "hidden" || signal.aborted) over.abort();
  };
  document.addEventListener("visibilitychange", look, { signal: over.signal });
  signal.addEventListener("abort", look, { signal: over.signal });
  look();
  return over.signal;
}

async function whenSeen(signal: AbortSignal): Promise<void> {
  while (document.visibilityState === "hidden" && !signal.aborted) {
    await new Promise((resolve) => {
      document.addEventListener("visibilitychange", resolve, { once: true });
      signal.addEventListener("abort", resolve, { once: true });
    });
  }
}

/** A server that is away comes back; one that refuses has said so. */
async function opened(path: string, query: Query, last: number | null, signal: AbortSignal): Promise<Response | undefined> {
  try {
    return await openFollowed(path, query, last, signal);
  } catch (error) {
    if (error instanceof Refused) throw error;
    return undefined;
  }
}

export interface Followed<T> {
  data: T | undefined;
  error: Error | undefined;
}

/** What a cluster holds, as it becomes otherwise. */
export function useCluster<T>(query: Query): Followed<T> {
  const key = JSON.stringify(query);
  const [state, setState] = useState<Followed<T> & { key: string }>({ key, data: undefined, error: undefined });
  useEffect(() => {
    const over = new AbortController();
    const say = (error: Error): void => {
      if (!over.signal.aborted) setState((old) => ({ key, data: old.key === key ? old.data : undefined, error }));
    };
    follow("clusters/follow", JSON.parse(key) as Query, over.signal, ({ event, data }) => {
      if (event === "seen") setState({ key, data: JSON.parse(data) as T, error: undefined });
      else if (event === "trouble") say(new Error((JSON.parse(data) as { detail: string }).detail));
    }).catch(say);
    return () => over.abort();
  }, [key]);
  return state.key === key ? state : { data: undefined, error: undefined };
}
