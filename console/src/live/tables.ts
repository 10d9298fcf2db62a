// How pages look at the store: what the stream patches is drawn again, and nothing is asked for a second time.
import { useEffect, useState, useSyncExternalStore } from "react";
import type { Job, LiveEvent, Status } from "../api/types";
import { useStream } from "./queries";
import { type FleetStore, jobOf } from "./store";
import type { Stream } from "./stream";

/** The store itself; the page is drawn again after every patch. */
export function useStore(): FleetStore {
  const { store } = useStream();
  useSyncExternalStore(store.subscribe, () => store.version);
  return store;
}

export function useStatus(): Status | undefined {
  return useStore().status;
}

export interface Kept<T> {
  items: T[] | undefined;
  error: Error | undefined;
}

type Patch<T> = (patch: (items: T[]) => T[]) => void;

/** A list that is asked for once, and from then on patched by what `listen` hears; asked for again after a gap. */
function useKept<T>(key: string, ask: () => Promise<T[]>, listen: (stream: Stream, patch: Patch<T>) => () => void): Kept<T> {
  const stream = useStream();
  const [kept, setKept] = useState<Kept<T> & { key: string }>({ key, items: undefined, error: undefined });
  useEffect(() => {
    let isOver = false;
    const load = (): void => {
      ask().then(
        (items) => isOver || setKept({ key, items, error: undefined }),
        (error: Error) => isOver || setKept((old) => ({ ...old, key, error })),
      );
    };
    load();
    const leave = [stream.onReturn(load), listen(stream, (patch) => setKept((old) => ({ ...old, items: old.items && patch(old.items) })))];
    return () => {
      isOver = true;
      for (const one of leave) one();
    };
    // What is asked and heard follows from the key.
  }, [stream, key]);
  return kept.key === key ? kept : { items: undefined, error: undefined };
}

/** Patched by what the stream tells of each object. `place` lays one over the others. */
export function useObjects<T>(key: string, kind: string, ask: () => Promise<T[]>, place: (items: T[], name: string, object: unknown) => T[]): Kept<T> {
  return useKept(key, ask, (stream, patch) =>
    stream.store.onObjects((objects) => {
      const mine = objects.filter((one) => one.kind === kind);
      if (mine.length > 0) patch((items) => mine.reduce((all, one) => place(all, one.name, one.object), items));
    }),
  );
}

export function placeByName<T extends { name: string }>(items: T[], name: string, object: unknown): T[] {
  const others = items.filter((one) => one.name !== name);
  return object === null ? others : [...others, object as T];
}

/** Jobs; their events say all that changes of them. */
export function useJobs(key: string, ask: () => Promise<Job[]>, isMine: (event: LiveEvent) => boolean): Kept<Job> {
  return useKept(key, ask, (stream, patch) =>
    stream.onEvent((event) => {
      if (event.kind === "Job" && isMine(event)) patch((jobs) => withJob(jobs, event));
    }),
  );
}

export function withJob(jobs: Job[], event: LiveEvent): Job[] {
  const told = jobOf(event);
  const known = jobs.findIndex((job) => job.id === told.id);
  const nothing = { metrics: [], links: {}, verifiedAt: null, externalId: null } as unknown as Job;
  if (known < 0) return [{ ...nothing, ...told } as Job, ...jobs];
  return jobs.with(known, { ...jobs[known], ...told } as Job);
}
