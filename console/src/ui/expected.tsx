// When a rollout is expected to be over, by a plan that has an age; a moment that has passed is not one at which it ended.
// The same words wherever a rollout is shown.
import type { ReactNode } from "react";
import { get } from "../api/client";
import type { Counts, EnvironmentStatus, Forecast } from "../api/types";
import { ofKinds, useLive } from "../live/queries";
import { isDone } from "../words";
import { Mark, Time, useNow } from "./parts";

export interface Finish {
  /** Null where somebody is waited for. */
  at: string | null;
  madeAt: string;
}

/** Of two plans, the later one knows more. */
export function later(...finishes: (Finish | null | undefined)[]): Finish | undefined {
  const known = finishes.filter((one): one is Finish => one !== null && one !== undefined);
  return known.sort((a, b) => Date.parse(b.madeAt) - Date.parse(a.madeAt))[0];
}

/** By the plan that came with the status or by the newest forecast, whichever was made later. */
export function useExpected(): (deployment: string, environment: EnvironmentStatus) => Finish | undefined {
  const forecast = useLive("forecast", () => get<Forecast>("forecast"), ofKinds("Version", "Policy", "Freeze", "Group", "Approval"));
  return (deployment, environment) => {
    const plan = forecast.data;
    const found = plan?.rollouts.find((one) => one.deployment === deployment && one.environment === environment.name);
    return later(environment.expectedFinish, plan && found && { at: found.finishAt, madeAt: plan.madeAt });
  };
}

/** What has failed and is left so ends by no time: a plan of before, or one that is over, says nothing of it. */
export function expectation(finish: Finish | undefined, counts: Counts, now: number): "unknown" | "person" | "overdue" | "expected" {
  const isStill = counts.running + counts.verifying + counts.rollingBack === 0;
  const isLeft = counts.failed + counts.rolledBack > 0 && isStill;
  const isPast = finish?.at != null && Date.parse(finish.at) <= now;
  if (finish?.at === null || (isLeft && (finish === undefined || isPast))) return "person";
  if (finish === undefined) return "unknown";
  return isPast ? "overdue" : "expected";
}

export function Expected({ finish, counts }: { finish: Finish | undefined; counts: Counts }): ReactNode {
  const found = expectation(finish, counts, useNow());
  if (found === "person") return <span className="soft whole">needs a person</span>;
  if (found === "unknown" || finish === undefined) return <span className="soft">–</span>;
  return (
    <>
      {found === "overdue" ? (
        <>
          <Mark tone="wait" sign="!" word="overdue" /> expected <Time at={finish.at} />
        </>
      ) : (
        <Time at={finish.at} />
      )}{" "}
      <small className="soft whole" title="if nothing else changes">
        planned <Time at={finish.madeAt} />
      </small>
    </>
  );
}

/** Where no heading says what it is; nothing of what is done or not known. */
export function ExpectedDone({ finish, counts }: { finish: Finish | undefined; counts: Counts }): ReactNode {
  const found = expectation(finish, counts, useNow());
  if (isDone(counts) || found === "unknown") return null;
  return (
    <small className="soft">
      expected to be done: <Expected finish={finish} counts={counts} />
    </small>
  );
}
