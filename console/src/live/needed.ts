// What needs a person, deployment by deployment, as explain says it.
import { get, place } from "../api/client";
import type { AwaitedApproval, DeploymentExplanation, Group, LiveEvent, ReasonGroup, SeenTarget, Status } from "../api/types";
import { jobTone } from "../words";

type Counts = Status["deployments"][number]["environments"][number]["counts"];

export interface Asked extends AwaitedApproval {
  deployment: string;
}

/** Somebody may be waited for there: what is held by a freeze first may wait for a vote as well. */
export function mayNeedSomebody(counts: Counts): boolean {
  return counts.waiting + counts.frozen + counts.failed + counts.rolledBack > 0;
}

const MOST_ASKED = 50;

/** Every vote that is asked for anywhere. */
export async function askedVotes(): Promise<Asked[]> {
  const status = await get<Status>("status");
  const names = status.deployments.filter((one) => one.environments.some(({ counts }) => mayNeedSomebody(counts))).map((one) => one.name);
  const answers = await Promise.all(names.slice(0, MOST_ASKED).map((name) => get<DeploymentExplanation>(`deployments/${place(name)}/explain`)));
  return answers.flatMap((answer) => answer.approvals.map((one) => ({ ...one, deployment: answer.deployment })));
}

const KINDS = new Set(["Version", "Approval", "Skip", "Freeze", "Policy", "Deployment", "Environment", "ReleaseTarget", "Group", "Budget"]);

/** Whether who is waited for may be somebody else after it; a job that goes well asks nobody. */
export function changesNeed(event: LiveEvent): boolean {
  return KINDS.has(event.kind) || (event.kind === "Job" && jobTone(String(event.data["status"])) === "bad");
}

/** Whoever waits for a failed cycle, or for the slot that it holds, is offered to act on it. */
function isBecauseOf(reason: ReasonGroup, groups: Group[]): boolean {
  return (reason.actions ?? []).some((action) => groups.some((group) => action.command.endsWith(`--group ${group.id}`)));
}

/** Cycles that failed, the newest first; one that goes on or has ended is none of them. */
export function placeFailed(groups: Group[], id: string, object: unknown): Group[] {
  const told = object as Group | null;
  const known = groups.findIndex((one) => one.id === id);
  if (told?.status !== "failed") return known < 0 ? groups : groups.toSpliced(known, 1);
  return known < 0 ? [told, ...groups] : groups.with(known, told);
}

/** Whether explain says that somebody can do it. */
export function isOffered(reason: ReasonGroup, command: string): boolean {
  return (reason.actions ?? []).some((action) => action.command.startsWith(command));
}

/** How many wait for nothing but that these cycles go on: they need nobody of their own. */
export function heldBack(reasons: ReasonGroup[], groups: Group[]): number {
  return reasons.filter((reason) => reason.state === "waiting" && isBecauseOf(reason, groups)).reduce((sum, reason) => sum + reason.count, 0);
}

/** Reasons that only a person ends and that are said nowhere else: votes, freezes and failed cycles have lines of their own. */
export function stuck({ deployment, reasons, approvals }: Pick<DeploymentExplanation, "deployment" | "reasons" | "approvals">, groups: Group[], targets: ReadonlyMap<string, SeenTarget>): ReasonGroup[] {
  const isInFailedCycle = (name: string): boolean =>
    groups.some((group) => name === `${deployment}/${group.environment}/${group.resource}` && group.members.some((member) => member.deployment === deployment));
  const isStill = (reason: ReasonGroup): boolean => reason.targets.some((name) => targets.get(name)?.state === reason.state && !isInFailedCycle(name));
  const isOfVotes = (reason: ReasonGroup): boolean =>
    approvals.some((one) => one.environment === reason.environment && one.version === reason.version && one.policy === reason.policy && one.rule === reason.rule);
  return reasons.filter((reason) => reason.blocked > 0 && reason.state !== "frozen" && !isOfVotes(reason) && isStill(reason) && !(reason.state === "waiting" && isBecauseOf(reason, groups)));
}
