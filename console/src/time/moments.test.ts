import { expect, test } from "vitest";
import type { SeenChange, SeenTarget } from "../api/types";
import { emptyTables } from "../live/store";
import { comparable, decisionsOf, foreseen, later, momentAt, narrowed, neighbour, notBefore, partsOf, plannedJobs, sentence, shareOf, usesOf, wavesAfter, written } from "./moments";

const span = { from: 1000, now: 2000, until: 6000 };

test("a moment and its place on the line are the same thing", () => {
  for (const at of [1000, 1500, 2000, 2001, 6000]) expect(momentAt(span, shareOf(span, at))).toBeCloseTo(at, 6);
  expect(shareOf(span, 2000)).toBe(0.6);
  expect([shareOf(span, -5), shareOf(span, 9999)]).toEqual([0, 1]);
});

test("where nothing is expected the line ends with now", () => {
  const past = { from: 0, now: 100, until: 100 };
  expect(shareOf(past, 100)).toBe(1);
  expect(momentAt(past, 0.5)).toBe(50);
  expect(shareOf({ from: 5, now: 5, until: 5 }, 5)).toBe(1);
});

const at = (second: number, fraction = ""): string => `2026-01-01T00:00:0${second}${fraction}Z`;
const change = (moment: string, name: string, state: string | null, more: object = {}): SeenChange =>
  ({
    at: moment,
    table: "targets",
    name,
    row: state === null ? null : { name, state, current: null, reason: null, job: null, ...more },
  }) as unknown as SeenChange;

test("what is decided at one moment is one decision, and steps go from one to the next", () => {
  const decisions = decisionsOf([change(at(1), "a/p/1", "running"), change(at(1), "a/p/2", "waiting"), change(at(3, ".000001"), "a/p/1", "upToDate")]);
  expect(decisions.map((one) => one.changes.length)).toEqual([2, 1]);
  expect(neighbour(decisions, at(1), 1)?.at).toBe(at(3, ".000001"));
  expect(neighbour(decisions, at(3), 1)?.at).toBe(at(3, ".000001"));
  expect(neighbour(decisions, at(3, ".000001"), -1)?.at).toBe(at(1));
  expect(neighbour(decisions, at(1), -1)).toBeUndefined();
});

test("moments are compared to the microsecond, however many digits they have", () => {
  expect(comparable(at(1)) < comparable(at(1, ".000001"))).toBe(true);
  expect(comparable(at(1, ".5")) > comparable(at(1, ".499999"))).toBe(true);
});

test("the future is what is now and what the plan changes until then", () => {
  const now = emptyTables();
  now.targets.set("a/p/1", { name: "a/p/1", state: "waiting" } as SeenTarget);
  const plan = [change(at(1), "a/p/1", "running"), change(at(2), "a/p/1", "upToDate")];
  expect(foreseen(now, plan, at(1)).targets.get("a/p/1")?.state).toBe("running");
  expect(foreseen(now, plan, at(9)).targets.get("a/p/1")?.state).toBe("upToDate");
  expect(now.targets.get("a/p/1")?.state).toBe("waiting");
});

test("a decision is said in one line", () => {
  const [one] = decisionsOf([
    change(at(1), "drain/prod/node-3", "running", { job: { id: "j", status: "pending", version: "v1" } }),
    change(at(1), "drain/prod/node-4", "waiting", { reason: "SlotsTaken" }),
    change(at(1), "drain/prod/node-5", null),
  ]);
  expect(sentence(one!)).toBe("drain on node-3 running v1; drain on node-4 waiting (slots taken); drain on node-5 is gone");
});

test("of a decision about many, what is sought is said first", () => {
  const many = [1, 2, 3, 4, 5].map((index) => ({ at: "2030-01-01T00:00:00Z", table: "targets", name: `drain/prod/node-${index}`, row: null }) as unknown as SeenChange);
  const [one] = decisionsOf(many);
  expect(sentence(one!)).not.toContain("node-5");
  expect(sentence(one!, ["node-5"])).toMatch(/^drain on node-5 is gone; .*; and \d more$/);
});

test("a plan sees jobs begin and end", () => {
  const job = { job: { id: "j1", status: "pending", version: "v2" } };
  const jobs = plannedJobs([change(at(1), "a/p/1", "running", job), change(at(2), "a/p/1", "running", job), change(at(4), "a/p/1", "upToDate")]);
  expect(jobs).toMatchObject([{ target: "a/p/1", version: "v2", from: Date.parse(at(1)), till: Date.parse(at(4)) }]);
});

test("budgets are told step by step, and resources may have slashes", () => {
  const use = { at: at(1), table: "budgets", name: "b", row: { used: 2, limit: 3 } } as unknown as SeenChange;
  expect(usesOf([use, change(at(2), "a/p/1", "running")], "b")).toEqual([{ at: Date.parse(at(1)), used: 2, limit: 3 }]);
  expect(partsOf("d/e/r/s")).toEqual({ deployment: "d", environment: "e", resource: "r/s" });
});

test("a part of the line may be all past, all future, or both", () => {
  const whole = { from: 0, now: 100_000, until: 200_000 };
  expect(narrowed(whole, null)).toBe(whole);
  for (const window of [{ from: 10_000, till: 40_000 }, { from: 120_000, till: 160_000 }, { from: 90_000, till: 120_000 }]) {
    const part = narrowed(whole, window);
    expect([part.from, part.until]).toEqual([window.from, window.till]);
    for (const at of [part.from, part.from + 5_000, part.until]) expect(momentAt(part, shareOf(part, at))).toBeCloseTo(at, 3);
    expect([shareOf(part, part.from), shareOf(part, part.until)]).toEqual([0, 1]);
  }
});

test("the end of the line is after everything that happens in its last millisecond", () => {
  const last = "2026-01-01T00:00:04.123456Z";
  const end = { from: 0, now: Date.parse(at(1)), until: Date.parse(last) };
  const shown = written(momentAt(end, 1));
  expect(shown).toBe("2026-01-01T00:00:04.123999Z");
  const tables = foreseen(emptyTables(), [change(at(2), "a/p/1", "running"), change(last, "a/p/1", "upToDate")], shown);
  expect(tables.targets.get("a/p/1")?.state).toBe("upToDate");
});

test("waves to come are those after the moment that is shown", () => {
  const job = (resource: string, from: number) => ({ target: `a/p/${resource}`, version: "v1", from, till: null });
  const jobs = [job("3", 9_000), job("1", 2_000), job("2", 2_400)];
  expect(wavesAfter(jobs, 0)).toEqual([
    { from: 2_000, resources: ["1", "2"] },
    { from: 9_000, resources: ["3"] },
  ]);
  expect(wavesAfter(jobs, 2_500).map((wave) => wave.resources)).toEqual([["3"]]);
});

test("those after a moment are told, the one of the moment itself is not", () => {
  const decisions = decisionsOf([1, 2, 3, 4].map((second) => change(at(second), "a/p/1", "running")));
  expect(later(decisions, at(2)).map((one) => one.at)).toEqual([at(3), at(4)]);
  expect(later(decisions, at(9))).toEqual([]);
  expect(neighbour(decisions, at(9), -1)?.at).toBe(at(4));
  expect(neighbour(decisions, at(4), 1)).toBeUndefined();
});

test("what comes by a clock that is behind stays in order", () => {
  const known = [change(at(5), "a/p/1", "running")];
  expect(notBefore(known, [change(at(3), "a/p/2", "running"), change(at(6), "a/p/3", "running")]).map((one) => one.at)).toEqual([at(5), at(5), at(6)]);
});
