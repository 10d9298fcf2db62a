// @vitest-environment jsdom
import { expect, test } from "vitest";
import type { Job, Member } from "../api/types";
import { length, relative, spaced } from "../words";
import { stagesOf, tookOf } from "./cycle";
import { flow } from "./flow";
import { cut } from "../chart/paint";
import { windowOf } from "../chart/addressed";
import { spans } from "./gantt";
import { byPair, selectorOf } from "../acts/selected";
import { edgesOf } from "./bracket";
import { columnOf, completions } from "./celfield";
import { arrange, between, nameAt } from "./grid";
import { found } from "./palette";
import { steps } from "./usage";

test("the grid has a row a resource in the order people count in", () => {
  const table = arrange(["b/prod/node-10", "a/prod/node-9", "a/prod/node-10"]);
  expect(table.lines.map((line) => line.place)).toEqual(["prod/node-9", "prod/node-10"]);
  expect(table.columns).toEqual(["a", "b"]);
  expect(nameAt(table, { row: 1, column: 1 })).toBe("b/prod/node-10");
  expect(between(table, { row: 1, column: 1 }, { row: 0, column: 1 })).toEqual(["b/prod/node-9", "b/prod/node-10"]);
});

test("resources stand under the heading of their group", () => {
  const table = arrange(["a/prod/n1", "a/prod/n2", "a/prod/n3"], (resource) => (resource === "n2" ? "zone: east" : "zone: west"));
  expect(table.lines.map((line) => line.label)).toEqual(["zone: east", "prod/n2", "zone: west", "prod/n1", "prod/n3"]);
  expect(nameAt(table, { row: 0, column: 0 })).toBeUndefined();
});

test("names, values and functions are completed where the caret is", () => {
  const words = { fields: ["target.state", "target.name"], values: ["prod", "preview"] };
  expect(completions("target.s", 8, words)).toEqual({ from: 0, found: ["target.state"] });
  expect(completions("target.state == 'pr", 19, words).found).toEqual(["prod'", "preview'"]);
  expect(completions("target.name.st", 14, words)).toEqual({ from: 12, found: ["startsWith('"] });
  expect(completions("", 0, words).found).toEqual([]);
  expect(columnOf("cel: ends too early (line 1, column 20)\n x")).toBe(19);
  expect(columnOf("another mistake")).toBeNull();
});

test("what was chosen becomes one order for each pair", () => {
  expect(byPair(["a/prod/n1", "a/prod/n2", "b/prod/n1"])).toEqual([
    { deployment: "a", environment: "prod", resources: ["n1", "n2"] },
    { deployment: "b", environment: "prod", resources: ["n1"] },
  ]);
  expect(selectorOf(["n1", 'a"b'])).toBe('resource.name in ["n1", "a\\"b"]');
});

test("hooks stand before and after all members", () => {
  const member = (deployment: string, role: Member["role"]): Member => ({ deployment, role, state: "waiting" }) as Member;
  const members = [member("after", "postHook"), member("a", "member"), member("b", "member"), member("before", "preHook")];
  const { at, lines } = flow(members.map((one) => one.deployment), stagesOf(members), { width: 100, height: 20 });
  const x = (name: string): number => at.get(name)?.x ?? NaN;
  expect(x("before")).toBeLessThan(x("a"));
  expect(x("a")).toBeLessThan(x("after"));
  expect(lines).toHaveLength(4);
});

test("members of a cycle stand in the order they run in, whoever of the bracket is not in it", () => {
  const member = (deployment: string): Member => ({ deployment, role: "member", state: "waiting" }) as Member;
  const order = [
    { deployment: "os", role: "member" as const, after: [] },
    { deployment: "runtime", role: "member" as const, after: ["os"] },
    { deployment: "kubelet", role: "member" as const, after: ["runtime"] },
    { deployment: "probe", role: "member" as const, after: ["os"] },
  ];
  expect(stagesOf([member("kubelet"), member("os"), member("probe")], order)).toEqual([["os", "kubelet"], ["os", "probe"]]);
});

test("a member says how long its job took, or goes on", () => {
  const job = { startedAt: "2026-01-01T00:00:00Z", completedAt: null, attempt: 2 } as Job;
  const now = Date.parse("2026-01-01T00:00:08Z");
  expect([tookOf(undefined, now), tookOf(job, now), tookOf({ ...job, attempt: 1, completedAt: "2026-01-01T00:02:00Z" }, now)]).toEqual(["", "for 8 s, attempt 2", "2 min"]);
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

test("members of a bracket stand after what they depend on, and hooks before and after all", () => {
  const member = (deployment: string, role: "member" | "preHook" | "postHook", after: string[] = []) => ({ deployment, role, after });
  const edges = edgesOf([
    member("drain", "preHook"),
    member("os", "member", ["drain"]),
    member("kubelet", "member", ["os", "drain"]),
    member("containerd", "member", ["os"]),
    member("uncordon", "postHook", ["kubelet"]),
  ]);
  expect(edges.map(([from, next]) => `${from} ${next}`).sort()).toEqual(["containerd uncordon", "drain os", "kubelet uncordon", "os containerd", "os kubelet"]);
});

test("a limit stays as it is until it changes", () => {
  const span = { from: 0, now: 100, until: 100 };
  const line = steps([{ at: 0, used: 1, limit: 2 }, { at: 50, used: 2, limit: 2 }], span, (value) => 10 - value, (point) => point.used);
  expect(line).toBe("M0 9.0H500.0V8.0H1000");
});

test("a part of the time is read from the address, and nothing else is", () => {
  expect(windowOf("1000-5000")).toEqual({ from: 1000, till: 5000 });
  expect(windowOf("5000-1000")).toBeNull();
  expect(windowOf("x")).toBeNull();
  expect(windowOf(null)).toBeNull();
});

test("a name is cut by the room that its letters take", () => {
  const pen = { measureText: (text: string) => ({ width: [...text].length * 12 }) as TextMetrics };
  expect(cut(pen, "short", 60)).toBe("short");
  const found = cut(pen, "W".repeat(253), 252);
  expect(found.endsWith("…")).toBe(true);
  expect([...found].length * 12).toBeLessThanOrEqual(252);
});
