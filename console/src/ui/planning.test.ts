import { expect, test } from "vitest";
import type { PlanResult } from "../api/types";
import { folded, lineDiff } from "./linediff";
import { broughtTo, concernedBy, isRefused, merged, summary } from "./planning";

const START = "2026-01-01T00:00:00Z";
const at = (seconds: number): string => new Date(Date.parse(START) + seconds * 1000).toISOString();

function plan(jobs: object[], finish: object): PlanResult {
  return { start: START, end: at(100), jobs, finish, rejected: [], differences: [] } as unknown as PlanResult;
}

test("a plan is summed up by who is busy when", () => {
  const job = (deployment: string, resource: string, since: number, until: number | null): object => ({
    deployment,
    environment: "prod",
    resource,
    createdAt: at(since),
    startedAt: null,
    completedAt: until === null ? null : at(until),
  });
  const found = summary(
    plan([job("b", "1", 10, 20), job("a", "1", 0, 5), job("a", "2", 5, 9), job("a", "1", 50, null)], {
      at: at(60),
      wasCut: false,
      waiting: [{ reason: "approval" }, { reason: "window" }, { reason: "approval" }],
    }),
  );
  expect(found.jobs).toBe(4);
  expect(found.targets).toBe(3);
  expect(found.waiting).toEqual([
    { reason: "approval", count: 2 },
    { reason: "window", count: 1 },
  ]);
  expect(found.bars.map((row) => [row.name, row.count, row.spans])).toEqual([
    ["a in prod", 3, [[0, 9000], [50000, 100000]]],
    ["b in prod", 1, [[10000, 20000]]],
  ]);
});

test("a plan in which nothing happens has nothing to draw", () => {
  const found = summary(plan([], { at: null }));
  expect([found.jobs, found.finish, found.bars, found.length]).toEqual([0, null, [], 0]);
});

test("spans that touch become one", () => {
  expect(merged([[5, 6], [0, 2], [1, 3], [3, 4]])).toEqual([[0, 4], [5, 6]]);
});

test("a diff keeps what stays and names what goes and comes", () => {
  const found = lineDiff("a\nb\nc\nd", "a\nx\nc\nd\ne");
  expect(found.map((line) => line.sign + line.text)).toEqual([" a", "-b", "+x", " c", " d", "+e"]);
  expect(lineDiff("", "a").map((line) => line.sign)).toEqual(["+"]);
  expect(lineDiff("a", "").map((line) => line.sign)).toEqual(["-"]);
});

test("what stays far from a change is left out", () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n");
  const found = folded(lineDiff(before, before.replace("line 10", "other")));
  expect(found.filter((line) => line === null)).toHaveLength(2);
  expect(found.filter((line) => line !== null)).toHaveLength(6);
});

test("an act shows whom it names, with what is run beside them for it, and one line of what others wait for", () => {
  const job = (deployment: string, resource: string, until: number): object => ({
    deployment,
    environment: "prod",
    resource,
    version: "v1",
    createdAt: at(0),
    startedAt: null,
    completedAt: at(until),
  });
  const order = { action: "rollback" as const, deployment: "kubelet", environment: "prod", resources: ["n1"] };
  const found = summary(
    plan([job("drain", "n1", 5), job("kubelet", "n1", 9), job("kubelet", "n2", 20), job("other", "n3", 50)], {
      at: at(60),
      waiting: [
        { target: "other/prod/n9", reason: "the output of another job" },
        { target: "kubelet/prod/n1", reason: "first line\nsecond line" },
      ],
    }),
    concernedBy({ orders: [order] }),
  );
  expect([found.jobs, found.finish]).toEqual([2, at(9)]);
  expect(found.moves.map((one) => `${one.deployment}/${one.resource} ${one.version}`)).toEqual(["kubelet/n1 v1"]);
  expect(found.waiting).toEqual([{ reason: "first line …", count: 1 }]);
});

test("what may reach anybody is shown whole", () => {
  expect(concernedBy({ manifests: [] })).toBe(undefined);
});

test("a whole environment that goes back is shown with all that the plan says, elsewhere too", () => {
  const job = (environment: string, resource: string, version: string): object => ({
    deployment: "kubelet",
    environment,
    resource,
    version,
    createdAt: at(0),
    startedAt: null,
    completedAt: at(5),
  });
  const orders = [{ action: "rollback" as const, deployment: "kubelet", environment: "prod" }];
  const whole = plan([job("prod", "n1", "good1"), job("prod", "n2", "bad1"), job("stage", "n3", "bad1"), job("stage", "n4", "bad1")], { at: at(5) });
  const found = summary(whole, concernedBy({ orders }));
  expect([found.jobs, found.targets]).toEqual([4, 4]);
  expect(found.moves.map((one) => `${one.environment}/${one.resource} ${one.version}`)).toEqual(["prod/n1 good1", "prod/n2 bad1", "stage/n3 bad1", "stage/n4 bad1"]);
  const current: Record<string, string> = { "kubelet/prod/n1": "bad1", "kubelet/prod/n2": "good1", "kubelet/stage/n4": "bad1" };
  expect(broughtTo(whole, "kubelet", "bad1", (name) => current[name] ?? null)).toEqual(["kubelet/prod/n2", "kubelet/stage/n3"]);
  expect(broughtTo(whole, "other", "bad1", () => null)).toEqual([]);
});

test("a vote is shown with the environments after it", () => {
  const concerned = concernedBy({ approvals: [{ deployment: "kubelet", tag: "v1", environment: "stage", status: "approved" }] });
  expect(concerned?.({ deployment: "kubelet", environment: "prod", resource: "n1" })).toBe(true);
  expect(concerned?.({ deployment: "other", environment: "stage", resource: "n1" })).toBe(false);
});

test("an act is refused when all of it is", () => {
  const order = { action: "retry" as const, deployment: "kubelet", environment: "prod", resources: ["n1"] };
  const rejected = [{ message: "nothing to retry" }] as unknown as PlanResult["rejected"];
  expect(isRefused({ orders: [order] }, { rejected })).toBe(true);
  expect(isRefused({ orders: [order, order] }, { rejected })).toBe(false);
  expect(isRefused({ orders: [order] }, { rejected: [] })).toBe(false);
  expect(isRefused({ endedSkips: ["1", "2"] }, { rejected })).toBe(false);
  expect(isRefused({ endedSkips: ["1"] }, { rejected })).toBe(true);
});
