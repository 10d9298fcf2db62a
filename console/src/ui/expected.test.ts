// @vitest-environment jsdom
import { expect, test } from "vitest";
import { countStates } from "../words";
import { expectation, later } from "./expected";

const at = (second: number): string => new Date(second * 1000).toISOString();
const plan = (end: number | null, made = 0) => ({ at: end === null ? null : at(end), madeAt: at(made) });
const running = countStates([{ state: "running" }, { state: "failed" }]);
const failed = countStates([{ state: "failed" }, { state: "waiting" }]);
const waiting = countStates([{ state: "waiting" }]);

test("of two plans the later one counts", () => {
  expect(later(plan(5, 1), plan(9, 2), null, undefined)).toEqual(plan(9, 2));
  expect(later(null)).toBeUndefined();
});

test("a moment that has passed is overdue, but what has failed and is left needs a person", () => {
  expect(expectation(plan(20), waiting, 10_000)).toBe("expected");
  expect(expectation(plan(5), waiting, 10_000)).toBe("overdue");
  expect(expectation(plan(5), running, 10_000)).toBe("overdue");
  expect(expectation(plan(5), failed, 10_000)).toBe("person");
  expect(expectation(undefined, failed, 10_000)).toBe("person");
  expect(expectation(plan(20), failed, 10_000)).toBe("expected");
  expect(expectation(plan(null), waiting, 10_000)).toBe("person");
  expect(expectation(undefined, waiting, 10_000)).toBe("unknown");
});
