import { expect, test } from "vitest";
import type { Approval, Job, LiveEvent, SeenTarget, Version } from "../api/types";
import { FleetStore } from "./store";
import { placeByName, placeVersion, placeVotes, withJob } from "./tables";

const target = (name: string, state: string): SeenTarget => ({ name, state, current: null, reason: null, job: null }) as SeenTarget;

test("the stream gives everything once and patches it from then on", () => {
  const store = new FleetStore();
  expect(store.take("state", { targets: [target("a/prod/n1", "waiting")], groups: [], budgets: [] })).toBe(true);
  const names = store.names;
  store.take("changes", [{ table: "targets", name: "a/prod/n1", row: target("a/prod/n1", "running") }]);
  expect(store.tables.targets.get("a/prod/n1")?.state).toBe("running");
  expect(store.names).toBe(names);
  store.take("changes", [{ table: "targets", name: "a/prod/n2", row: target("a/prod/n2", "waiting") }]);
  expect(store.names).toBe(names + 1);
  store.take("changes", [{ table: "targets", name: "a/prod/n1", row: null }]);
  expect([...store.tables.targets.keys()]).toEqual(["a/prod/n2"]);
});

test("after a break everything is as the server says, whatever was known", () => {
  const store = new FleetStore();
  store.take("state", { targets: [target("gone", "waiting")], groups: [], budgets: [] });
  store.take("state", { targets: [target("new", "waiting")], groups: [{ id: "g" }], budgets: [{ name: "b" }] });
  expect([...store.tables.targets.keys(), ...store.tables.groups.keys(), ...store.tables.budgets.keys()]).toEqual(["new", "g", "b"]);
});

test("who looks is told once for all patches of a turn", async () => {
  const store = new FleetStore();
  let told = 0;
  store.subscribe(() => told++);
  store.take("state", { targets: [], groups: [], budgets: [] });
  for (let index = 0; index < 50; index++) store.take("changes", [{ table: "targets", name: "t", row: target("t", "running") }]);
  await Promise.resolve();
  expect(told).toBe(1);
});

test("what is no patch is an event", () => {
  const store = new FleetStore();
  expect(store.take("job.created", {})).toBe(false);
  const seen: unknown[] = [];
  store.onObjects((objects) => seen.push(...objects));
  expect(store.take("objects", [{ kind: "Freeze", name: "f", object: null }])).toBe(true);
  expect(seen).toHaveLength(1);
});

test("an object takes the place of the one with its name, or goes", () => {
  const items = [{ name: "a", reason: "x" }, { name: "b", reason: "y" }];
  expect(placeByName(items, "a", { name: "a", reason: "z" }).map((one) => one.reason)).toEqual(["z", "y"]);
  expect(placeByName(items, "aa", { name: "aa", reason: "z" }).map((one) => one.name)).toEqual(["a", "aa", "b"]);
  expect(placeByName(items, "c", { name: "c", reason: "z" }).map((one) => one.name)).toEqual(["a", "b", "c"]);
  expect(placeByName(items, "a", null)).toEqual([{ name: "b", reason: "y" }]);
});

test("a job is laid over what is known of it", () => {
  const event = (id: string, data: object): LiveEvent => ({ kind: "Job", name: id, data }) as unknown as LiveEvent;
  const created = withJob([], event("1", { status: "pending", resource: "n1", completedAt: null }));
  const ended = withJob(created, event("1", { status: "successful", completedAt: "2026-01-01T00:00:00Z" }));
  expect(ended).toHaveLength(1);
  expect(ended[0]).toMatchObject({ id: "1", resource: "n1", status: "successful" } satisfies Partial<Job>);
});

test("a new version comes first, and an old one stays where it is", () => {
  const version = (tag: string, status: string): Version => ({ deployment: "api", tag, status }) as Version;
  const items = [version("v2", "ready"), version("v1", "ready")];
  expect(placeVersion(items, "api/v1", version("v1", "rejected")).map((one) => one.status)).toEqual(["ready", "rejected"]);
  expect(placeVersion(items, "api/v3", version("v3", "ready")).map((one) => one.tag)).toEqual(["v3", "v2", "v1"]);
  expect(placeVersion(items, "api/v2", null).map((one) => one.tag)).toEqual(["v1"]);
});

test("votes are told for an environment, or for all of a version", () => {
  const vote = (tag: string, environment: string, user: string, at: string): Approval => ({ deployment: "api", tag, environment, user, at }) as Approval;
  const items = [vote("v1", "prod", "ana", "3"), vote("v1", "qa", "ana", "2"), vote("v2", "qa", "ana", "1")];
  expect(placeVotes(items, "api/v1/qa", [vote("v1", "qa", "bob", "4")]).map((one) => one.user + one.environment)).toEqual(["bobqa", "anaprod", "anaqa"]);
  expect(placeVotes(items, "api/v1", [])).toEqual([vote("v2", "qa", "ana", "1")]);
  expect(placeVotes(items, "api/v1/qa", null)).toHaveLength(2);
});
