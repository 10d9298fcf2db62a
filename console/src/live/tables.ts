// How pages look at the store: what the stream patches is drawn again, and nothing is asked for a second time.
import { useEffect, useState, useSyncExternalStore } from "react";
import { all, get } from "../api/client";
import type { Approval, Job, LiveEvent, Status, Version } from "../api/types";
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

/** A list that is asked for once, and from then on patched by what `listen` hears; asked for again after a gap. What is heard
 * while it is asked for is laid over the answer, which may be older. */
function useKept<T>(key: string, ask: () => Promise<T[]>, listen: (stream: Stream, patch: Patch<T>) => () => void): Kept<T> {
  const stream = useStream();
  const [kept, setKept] = useState<Kept<T> & { key: string }>({ key, items: undefined, error: undefined });
  useEffect(() => {
    let isOver = false;
    let asking = 0;
    let heard: ((items: T[]) => T[])[] = [];
    const load = (): void => {
      const mine = ++asking;
      heard = [];
      ask().then(
        (items) => {
          if (isOver || mine !== asking) return;
          const found = heard.reduce((all, patch) => patch(all), items);
          heard = [];
          asking = 0;
          setKept({ key, items: found, error: undefined });
        },
        (error: Error) => isOver || mine !== asking || setKept((old) => ({ ...(old.key === key ? old : { items: undefined }), key, error })),
      );
    };
    load();
    const take = (patch: (items: T[]) => T[]): void => {
      if (asking > 0) heard.push(patch);
      setKept((old) => (old.key === key ? { ...old, items: old.items && patch(old.items) } : old));
    };
    const leave = [stream.onReturn(load), listen(stream, take)];
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

/** Where it was, or by its name among the others, as lists of the API are sorted. */
export function placeByName<T extends { name: string }>(items: T[], name: string, object: unknown): T[] {
  if (object === null) return items.filter((one) => one.name !== name);
  const known = items.findIndex((one) => one.name === name);
  if (known >= 0) return items.with(known, object as T);
  const next = items.findIndex((one) => one.name > name);
  return items.toSpliced(next < 0 ? items.length : next, 0, object as T);
}

/** The newest first. */
export function placeVersion(items: Version[], name: string, object: unknown): Version[] {
  const known = items.findIndex((one) => `${one.deployment}/${one.tag}` === name);
  if (object === null) return known < 0 ? items : items.toSpliced(known, 1);
  return known < 0 ? [object as Version, ...items] : items.with(known, object as Version);
}

/** Told are all votes on a version, or all of them in one environment; the newest first. */
export function placeVotes(items: Approval[], name: string, object: unknown): Approval[] {
  const [deployment, tag, ...environment] = name.split("/");
  const isTold = (one: Approval): boolean =>
    one.deployment === deployment && one.tag === tag && (environment.length === 0 || one.environment === environment.join("/"));
  return [...((object ?? []) as Approval[]), ...items.filter((one) => !isTold(one))].sort((a, b) => b.at.localeCompare(a.at));
}

/** Votes on one version. */
export function useVotes(deployment: string, tag: string): Kept<Approval> {
  return useObjects<Approval>(
    `votes on ${deployment} ${tag}`,
    "Approval",
    () => all<Approval>("approvals", { deployment, tag }),
    (items, name, object) => (name.startsWith(`${deployment}/${tag}/`) || name === `${deployment}/${tag}` ? placeVotes(items, name, object) : items),
  );
}

/** Events of one type, the newest first; `most` are kept. */
export function useEvents(type: string, most: number): Kept<LiveEvent> {
  return useKept(
    `events ${type}`,
    async () => (await get<{ items: LiveEvent[] }>("events", { cel: `event.type == '${type}'`, sort: "-seq", limit: most })).items,
    (stream, patch) =>
      stream.onEvent((event) => {
        if (event.type === type) patch((items) => [event, ...items].slice(0, most));
      }),
  );
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
