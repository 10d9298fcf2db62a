// What ends the wait of a gate, and who can change it: from what explain says of it.
import type { Action, RuleLine } from "../api/types";

/** What happens when a gate opens that waits for no time. The words are for people; the verdict is the server's. */
const EVENTS: Partial<Record<RuleLine["reason"], string>> = {
  Frozen: "when the freeze is ended",
  Paused: "when the version is ready again",
  Rejected: "when the version is made ready again",
  LineStopped: "when somebody resumes the line",
  Misconfigured: "when what is wrong is put right",
  AwaitingApproval: "when enough people have approved",
  AwaitingDependency: "when what it depends on runs there",
  AwaitingEnvironment: "when the environment before it is done",
  AwaitingVerification: "when the verification is over",
  AwaitingCycle: "when the cycle goes on",
  AwaitingTurn: "when its turn comes",
  SlotsTaken: "when a slot is free",
  WaveFull: "when the wave has room",
  BudgetSpent: "when the budget has room",
  GateFalse: "when its expression is true",
  EvaluationFailed: "when its expression can be evaluated",
  Failed: "when somebody retries it, or there is another version",
  CycleFailed: "when somebody retries or releases the cycle",
  VerificationFailed: "with another version",
  RolledBack: "with another version",
  NotSelected: "with a version that it selects",
  TooOld: "with a newer version",
};

const PERMISSIONS: Partial<Record<RuleLine["reason"], string>> = {
  Frozen: "freeze:write",
  Paused: "version:write",
  Rejected: "version:write",
  LineStopped: "budget:resume",
  AwaitingApproval: "approval:write",
  Failed: "target:act",
  CycleFailed: "group:act",
};

export function endOf(rule: RuleLine): { at: string | null; event: string } {
  const at = rule.satisfiedAt ?? (EVENTS[rule.reason] === undefined ? rule.nextEvaluationTime : null);
  return { at, event: EVENTS[rule.reason] ?? "when it is looked at again" };
}

/** "approver, admin can change it": by the act that explain offers for it, else by a skip. */
export function whoCan(rule: RuleLine, actions: Action[]): string {
  if (rule.verdict === "allowed") return "";
  const wanted = PERMISSIONS[rule.reason] ?? (rule.policy === null || rule.skipRefusal !== null ? "" : "skip:write");
  const roles = actions.filter((action) => action.permission === wanted).flatMap((action) => action.roles);
  if (roles.length > 0) return `${[...new Set(roles)].join(", ")} can change it`;
  return wanted ? `whoever has ${wanted} can change it` : "";
}
