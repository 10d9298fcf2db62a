// A page at a moment: recorded, present or expected. The moment is in the address, so a link shows the same to others.
import { useEffect, useMemo, useRef, useState } from "react";
import { get, Refused, serverNow } from "../api/client";
import type { Past, PastChanges, SeenChange } from "../api/types";
import { useStream } from "../live/queries";
import { emptyTables, type Everything, type Tables, tablesOf } from "../live/store";
import { useStore } from "../live/tables";
import { go, usePlace, withQuery } from "../router";
import { useNow } from "../ui/parts";
import { readFuture } from "./future";
import { type Decision, decisionsOf, foreseen, later, notBefore, type Span } from "./moments";
import type { Foretold } from "./pieces";

export interface TimeLine {
  /** As it stands in the address; null for now. */
  at: string | null;
  mode: "past" | "now" | "future";
  tables: Tables;
  span: Span;
  /** Recorded and expected, in order. */
  decisions: Decision[];
  past: SeenChange[];
  future: Foretold | undefined;
  /** What is shown is still that of another moment. */
  isBehind: boolean;
  error: Error | undefined;
  show: (at: string | null) => void;
}

/** While dragging, the moment under the hand is asked for, not every one it passes. */
const DRAG_MS = 100;
const MOST_PAST = 5_000;
const FUTURE_MS = 5_500;
const MOST_TRIES = 20;
const nothing = emptyTables();

export function useTimeLine(since: number): TimeLine {
  const { query } = usePlace();
  const store = useStore();
  const now = useNow();
  const at = query.get("at");
  const moment = at === null ? now : Date.parse(at);
  const mode = at === null || Number.isNaN(moment) ? "now" : moment <= now ? "past" : "future";
  const { changes, earliest } = usePastChanges(since);
  const future = useFuture();
  const was = usePast(mode === "past" ? at : null);
  const planned = future?.changes;
  const recorded = useMemo(() => decisionsOf(changes), [changes]);
  // A plan is made of a moment that is over by now.
  const decisions = useMemo(() => [...recorded, ...later(future?.decisions ?? [], new Date(serverNow()).toISOString())], [recorded, future]);
  const end = Math.max(Date.parse(future?.finishAt ?? "") || 0, decisions.at(-1)?.moment ?? 0, now);
  const span = { from: Math.min(Math.max(since, earliest, begun(changes, earliest, now)), now - 1), now, until: end > now + 1_000 ? end : now };
  const foretold = useMemo(
    () => (mode === "future" && planned !== undefined ? foreseen(store.tables, planned, at as string) : null),
    [mode, planned, at, store.version],
  );
  const tables = mode === "past" ? (was.tables ?? nothing) : (foretold ?? store.tables);
  return {
    at: mode === "now" ? null : at,
    mode,
    tables,
    span,
    decisions,
    past: changes,
    future,
    isBehind: mode === "past" ? was.at !== at : mode === "future" && future === undefined,
    error: mode === "past" ? was.error : undefined,
    show: (next) => go(withQuery({ at: next }), true),
  };
}

/** A little before the first that was recorded, once that is known: nobody looks at an hour in which nothing was there. */
function begun(changes: SeenChange[], earliest: number, now: number): number {
  const first = earliest === 0 ? NaN : Date.parse(changes[0]?.at ?? "");
  return Number.isNaN(first) ? 0 : first - (now - first) * 0.05 - 1_000;
}

function usePastChanges(since: number): { changes: SeenChange[]; earliest: number } {
  const { store } = useStream();
  const [found, setFound] = useState<{ changes: SeenChange[]; earliest: number }>({ changes: [], earliest: 0 });
  useEffect(() => {
    let isOver = false;
    let meanwhile: SeenChange[] = [];
    const asked = { since: new Date(since).toISOString(), limit: MOST_PAST };
    void patiently(() => get<PastChanges>("history/changes", asked), () => isOver).then(
      (past) => {
        if (isOver || past === undefined) return;
        const last = past.changes.at(-1)?.at ?? "";
        const changes = notBefore(past.changes, meanwhile.filter((change) => change.at > last));
        meanwhile = [];
        setFound({ changes, earliest: Date.parse(past.earliest) + 1 });
      },
      () => undefined,
    );
    const leave = store.onChanges((changes) => {
      const at = new Date(serverNow()).toISOString();
      const told = changes.map((change) => ({ ...change, at }) as unknown as SeenChange);
      meanwhile.push(...told);
      setFound((old) => ({ ...old, changes: notBefore(old.changes, told).slice(-MOST_PAST) }));
    });
    return () => {
      isOver = true;
      leave();
    };
  }, [store, since]);
  return found;
}

/** Asked for again when something has changed since, not more often than the server makes one, and one at a time. */
function useFuture(): Foretold | undefined {
  const { store } = useStream();
  const [future, setFuture] = useState<Foretold>();
  useEffect(() => {
    const over = new AbortController();
    let isAsking = false;
    let askedAt = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      isAsking = true;
      askedAt = Date.now();
      // Without a plan the line ends with now; what is wrong is said by those who ask for what they cannot do without.
      const found = await readFuture(over.signal).catch(() => undefined);
      isAsking = false;
      if (found !== undefined && !over.signal.aborted) setFuture(found);
    };
    const soon = (): void => {
      timer ??= setTimeout(
        () => {
          timer = undefined;
          if (isAsking) soon();
          else void ask();
        },
        Math.max(isAsking ? FUTURE_MS : 0, askedAt + FUTURE_MS - Date.now()),
      );
    };
    void ask();
    const leave = store.onChanges(soon);
    return () => {
      over.abort();
      clearTimeout(timer);
      leave();
    };
  }, [store]);
  return future;
}

interface Was {
  at: string | null;
  tables?: Tables;
  error?: Error;
}

function usePast(at: string | null): Was {
  const [was, setWas] = useState<Was>({ at: null });
  const kept = useRef(new Map<string, Tables>());
  useEffect(() => {
    if (at === null) return;
    const known = kept.current.get(at);
    if (known !== undefined) {
      setWas({ at, tables: known });
      return;
    }
    let isOver = false;
    const timer = setTimeout(() => {
      void patiently(() => get<Past>("history", { at }), () => isOver).then(
        (past) => {
          if (past === undefined) return;
          const tables = tablesOf(past as unknown as Everything);
          if (kept.current.size > 60) kept.current.clear();
          kept.current.set(at, tables);
          if (!isOver) setWas({ at, tables });
        },
        (error: Error) => isOver || setWas({ at, error }),
      );
    }, DRAG_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [at]);
  return was;
}

/** A log that is read for the first time takes a while, and the server says so. */
async function patiently<T>(ask: () => Promise<T>, isOver: () => boolean): Promise<T | undefined> {
  for (let tries = 1; !isOver(); tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 503 || tries === MOST_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
  return undefined;
}
