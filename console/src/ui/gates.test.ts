import { expect, test } from "vitest";
import type { Action, RuleLine } from "../api/types";
import { endOf, whoCan } from "./gates";

function rule(changes: Partial<RuleLine>): RuleLine {
  return { policy: "p", rule: "r", type: "approval", version: "v1", verdict: "pending", reason: "AwaitingApproval", message: "", satisfiedAt: null, nextEvaluationTime: null, skipRefusal: null, ...changes };
}

test("a gate that waits for a time says the time, another one what it waits for", () => {
  expect(endOf(rule({ reason: "WindowClosed", nextEvaluationTime: "2026-01-01T00:00:00Z" }))).toMatchObject({ at: "2026-01-01T00:00:00Z" });
  expect(endOf(rule({ reason: "Soaking", satisfiedAt: "2026-01-02T00:00:00Z" })).at).toBe("2026-01-02T00:00:00Z");
  expect(endOf(rule({ nextEvaluationTime: "2026-01-01T00:00:00Z" }))).toEqual({ at: null, event: "when enough people have approved" });
});

test("who can change a gate is whom explain names for it", () => {
  const approve: Action = { command: "headgate approve", permission: "approval:write", effect: "", roles: ["approver", "admin"] };
  expect(whoCan(rule({}), [approve])).toBe("approver, admin can change it");
  expect(whoCan(rule({ reason: "WindowClosed" }), [approve])).toBe("whoever has skip:write can change it");
  expect(whoCan(rule({ reason: "WindowClosed", policy: null }), [])).toBe("");
  expect(whoCan(rule({ reason: "AwaitingTurn", skipRefusal: "a cycle is not skipped" }), [approve])).toBe("");
  expect(whoCan(rule({ verdict: "allowed" }), [approve])).toBe("");
});
