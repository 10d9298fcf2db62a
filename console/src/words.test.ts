import { expect, test } from "vitest";
import { firstLine, jobSign, plural } from "./words";

test("things are counted in English", () => {
  expect([plural(1, "policy"), plural(3, "policy"), plural(0, "permission"), plural(2, "day")]).toEqual(["1 policy", "3 policies", "0 permissions", "2 days"]);
});

test("how a job ended has the signs of the phases", () => {
  expect(["successful", "failure", "inProgress", "pending", "cancelled"].map(jobSign)).toEqual(["✓", "✕", "▶", "○", "–"]);
});

test("what a job printed is cut to a line", () => {
  expect([firstLine("all of it"), firstLine("first\nsecond"), firstLine("x".repeat(9), 5)]).toEqual(["all of it", "first …", "xxxxx …"]);
});
