// @vitest-environment jsdom
import { expect, test } from "vitest";
import type { Job, ListedTarget, Member } from "../api/types";
import { length, relative, spaced } from "../words";
import { layout } from "./cycle";
import { spans } from "./gantt";
import { arrange } from "./grid";
import { found } from "./palette";

const target = (deployment: string, resource: string): ListedTarget =>
  ({ deployment, environment: "prod", resource, name: `${deployment}/prod/${resource}`, state: "waiting" }) as ListedTarget;

test("the grid has a row a resource in the order people count in", () => {
  const table = arrange([target("b", "node-10"), target("a", "node-9"), target("a", "node-10")]);
  expect(table.rows).toEqual(["prod/node-9", "prod/node-10"]);
  expect(table.columns).toEqual(["a", "b"]);
  expect(table.cells.size).toBe(3);
});

test("hooks stand before and after all members", () => {
  const member = (deployment: string, role: Member["role"]): Member => ({ deployment, role, state: "waiting" }) as Member;
  const { placed, lines } = layout([member("after", "postHook"), member("a", "member"), member("b", "member"), member("before", "preHook")]);
  const x = Object.fromEntries(placed.map((one) => [one.member.deployment, one.x])) as Record<string, number>;
  expect(x["before"]).toBeLessThan(x["a"] as number);
  expect(x["a"]).toBeLessThan(x["after"] as number);
  expect(lines).toHaveLength(4);
});

test("a job that runs reaches until now", () => {
  const job = (resource: string, startedAt: string, completedAt: string | null): Job =>
    ({ id: resource, environment: "prod", resource, createdAt: startedAt, startedAt, completedAt, status: "inProgress" }) as Job;
  const now = Date.parse("2026-01-01T00:10:00Z");
  const { rows, from, till } = spans(
    [job("late", "2026-01-01T00:05:00Z", null), job("early", "2026-01-01T00:00:00Z", "2026-01-01T00:04:00Z")],
    now,
  );
  expect(rows.map(([name]) => name)).toEqual(["prod/early", "prod/late"]);
  expect([from, till]).toEqual([Date.parse("2026-01-01T00:00:00Z"), now]);
});

test("the palette has what begins so first", () => {
  const entries = ["my-kubelet", "unkubelet", "kubelet-upgrade"].map((name) => ({ kind: "version", name, href: "/" }));
  expect(found(entries, "kube").map((entry) => entry.name)).toEqual(["kubelet-upgrade", "my-kubelet", "unkubelet"]);
  expect(found(entries, "nothing")).toEqual([]);
});

test("times and words are as people say them", () => {
  expect(relative(0, 90_000)).toBe("1 min 30 s ago");
  expect(relative(7_200_000, 0)).toBe("in 2 h");
  expect(length(300_000)).toBe("3 days");
  expect(spaced("inProgress")).toBe("in progress");
});
