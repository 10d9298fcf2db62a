// Why a target did not change at a moment, in a sentence: from the word that was recorded, and from the limits and cycles of
// that moment. What explain says in full is known of now alone.
import type { SeenTarget } from "../api/types";
import type { Tables } from "../live/store";
import { spaced } from "../words";
import { partsOf } from "./moments";

const SENTENCES: Record<string, string> = {
  Frozen: "A freeze holds it; what runs is finished, and nothing new starts until the freeze ends.",
  Paused: "The version is paused; it starts nowhere until it is made ready again.",
  Rejected: "The version was rejected; it starts nowhere until it is made ready again.",
  LineStopped: "Too much has failed, and the line is stopped until somebody resumes it.",
  Misconfigured: "What it needs is not described rightly; it waits until that is put right.",
  WindowClosed: "It is outside of the hours in which it may change.",
  AwaitingTurn: "Others come before it in the rollout's order; it waits for its turn.",
  CoolingDown: "Another change was made not long ago; it waits until the time between two is over.",
  Soaking: "The version has to have run elsewhere for a while first.",
  Collecting: "Its cycle collects the versions that are to change together.",
  AwaitingRetry: "Its job failed and is tried again after a while.",
  AwaitingApproval: "Not enough people have approved the version yet.",
  AwaitingDependency: "Something that it depends on does not run there yet.",
  AwaitingEnvironment: "The environment before it is not done yet.",
  AwaitingVerification: "What was deployed is being verified.",
  AwaitingCycle: "It waits for the cycle of its resource to go on.",
  SlotsTaken: "Every slot is taken; it waits for one that is given back.",
  WaveFull: "The wave is full; it comes with one of the next.",
  BudgetSpent: "As many are down as may be; it waits until one is back.",
  GateFalse: "The expression of a gate is not true.",
  EvaluationFailed: "An expression could not be evaluated.",
  NotSelected: "A rule selects other versions for it.",
  TooOld: "A newer version has been there.",
  Failed: "Its job failed; it waits until somebody retries it, or for another version.",
  CycleFailed: "The cycle of its resource failed; somebody has to retry it or to release its slot.",
  VerificationFailed: "The version did not pass its verification; it waits for another one.",
  RolledBack: "It was put back to the version of before; it waits for another one.",
};

export function whyThen(target: SeenTarget, tables: Tables): string {
  const reason = target.reason ?? "";
  const said = SENTENCES[reason] ?? `${spaced(reason)}.`;
  const detail = OF_LIMITS.has(reason) ? limits(tables) : OF_CYCLES.has(reason) ? cycle(target, tables) : "";
  return detail === "" ? said : `${said} ${detail}`;
}

const OF_LIMITS = new Set(["SlotsTaken", "WaveFull", "BudgetSpent", "LineStopped"]);
const OF_CYCLES = new Set(["AwaitingCycle", "CycleFailed", "Collecting"]);

/** Which limits were full, and by whom. */
function limits(tables: Tables): string {
  const full = [...tables.budgets.values()].filter((one) => one.stoppedAt !== null || one.used >= one.limit);
  return full
    .slice(0, 3)
    .map((one) => {
      const by = one.holders.length > 0 ? `, held by ${one.holders.slice(0, 3).join(", ")}` : "";
      return `${one.rule}: ${one.stoppedAt === null ? `${one.used} of ${one.limit} in use${by}` : "stopped"}.`;
    })
    .join(" ");
}

function cycle(target: SeenTarget, tables: Tables): string {
  const { environment, resource } = partsOf(target.name);
  const found = [...tables.groups.values()].find((one) => one.environment === environment && one.resource === resource);
  return found === undefined ? "" : `Its cycle (${found.policy}): ${spaced(found.status)}.`;
}
