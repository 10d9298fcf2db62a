import { expect, test } from "vitest";
import type { AwaitedApproval, Group, LiveEvent, ReasonGroup, SeenTarget } from "../api/types";
import { changesNeed, heldBack, placeFailed, stuck } from "./needed";

const reason = (state: string, targets: string[], more: object = {}): ReasonGroup => ({ environment: "prod", state, type: null, blocked: 1, targets, ...more }) as ReasonGroup;
const api = (...reasons: ReasonGroup[]): { deployment: string; reasons: ReasonGroup[]; approvals: AwaitedApproval[] } => ({ deployment: "api", reasons, approvals: [] });
const seen = (...rows: [string, string][]): Map<string, SeenTarget> => new Map(rows.map(([name, state]) => [name, { name, state } as SeenTarget]));

test("a failed target outside of a cycle needs a person, and one inside is told by its cycle", () => {
  const groups = [{ environment: "prod", resource: "n2", members: [{ deployment: "api" }] }] as Group[];
  const targets = seen(["api/prod/n1", "failed"], ["api/prod/n2", "failed"]);
  const [outside, inside] = [reason("failed", ["api/prod/n1"]), reason("failed", ["api/prod/n2"])];
  expect(stuck(api(outside, inside), groups, targets)).toEqual([outside]);
});

test("votes and freezes have lines of their own, and what has moved on is no longer told", () => {
  const targets = seen(["api/prod/n1", "waiting"], ["api/prod/n2", "frozen"], ["api/prod/n3", "running"]);
  const rule = { policy: "careful", rule: "scopedVersion[0]", version: "v2" };
  const told = [reason("waiting", ["api/prod/n1"], { type: "scopedVersion", ...rule }), reason("frozen", ["api/prod/n2"]), reason("failed", ["api/prod/n3"])];
  const approvals = [{ environment: "prod", ...rule } as AwaitedApproval];
  expect(stuck({ ...api(...told), approvals }, [], targets)).toEqual([]);
});

test("only jobs that went wrong ask for somebody", () => {
  const job = (status: string): LiveEvent => ({ kind: "Job", data: { status } }) as unknown as LiveEvent;
  expect([changesNeed(job("successful")), changesNeed(job("inProgress")), changesNeed(job("failure"))]).toEqual([false, false, true]);
});

test("who waits for a failed cycle is told with it, and needs nobody twice", () => {
  const groups = [{ id: "g1", environment: "prod", resource: "n1", members: [{ deployment: "api" }] }] as Group[];
  const waits = reason("waiting", ["api/prod/n2"], { count: 7, actions: [{ command: "headgate retry --group g1" }] });
  const other = reason("waiting", ["api/prod/n3"], { count: 1, actions: [{ command: "headgate resume few" }] });
  const targets = seen(["api/prod/n2", "waiting"], ["api/prod/n3", "waiting"]);
  expect(stuck(api(waits, other), groups, targets)).toEqual([other]);
  expect(heldBack([waits, other], groups)).toBe(7);
});

test("a failed cycle is listed while it has failed", () => {
  const group = (id: string, status: string): Group => ({ id, status }) as Group;
  const items = [group("a", "failed")];
  expect(placeFailed(items, "b", group("b", "failed")).map((one) => one.id)).toEqual(["b", "a"]);
  expect(placeFailed(items, "b", group("b", "executing"))).toBe(items);
  expect(placeFailed(items, "a", group("a", "executing"))).toEqual([]);
  expect(placeFailed(items, "a", null)).toEqual([]);
});
