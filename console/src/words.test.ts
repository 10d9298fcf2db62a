import { expect, test } from "vitest";
import { firstLine, inWorkspace, jobSign, plural } from "./words";

test("things are counted in English", () => {
  expect([plural(1, "policy"), plural(3, "policy"), plural(0, "permission"), plural(2, "day")]).toEqual(["1 policy", "3 policies", "0 permissions", "2 days"]);
});

test("how a job ended has the signs of the phases", () => {
  expect(["successful", "failure", "inProgress", "pending", "cancelled"].map(jobSign)).toEqual(["✓", "✕", "▶", "○", "–"]);
});

test("what a job printed is cut to a line", () => {
  expect([firstLine("all of it"), firstLine("first\nsecond"), firstLine("x".repeat(9), 5)]).toEqual(["all of it", "first …", "xxxxx …"]);
});

test("a command names its workspace unless it is the one that needs no name", () => {
  const command = "headgate publish kubelet v2";
  expect(inWorkspace(command, "default")).toBe(command);
  expect(inWorkspace(command, "team-a")).toBe(`${command} --workspace team-a`);
  expect(inWorkspace(command, "it's ours")).toBe(`${command} --workspace 'it'\\''s ours'`);
  expect(inWorkspace("hg_secret", "team-a")).toBe("hg_secret");
});
