// What would happen, from the server's own plan: in a dialog before an act, and side by side for a policy.
import { type ReactNode, useEffect, useState } from "react";
import { send } from "../api/client";
import type { PlanResult } from "../api/types";
import { useStore } from "../live/tables";
import { PlanBars } from "./planbars";
import { plural } from "../words";
import { Sentence, Time, Trouble } from "./parts";
import { concernedBy, type Move, summary } from "./planning";

export interface PlanWish {
  manifests?: unknown[];
  version?: Record<string, unknown>;
  deletions?: { kind: string; name: string }[];
  force?: boolean;
  orders?: { action: OrderAction; deployment: string; environment: string; resources?: string[]; to?: string }[];
  groups?: { action: "retry" | "abort" | "release"; group: string }[];
  statuses?: { deployment: string; tag: string; status: "ready" | "paused" | "rejected"; rollback?: boolean }[];
  approvals?: { deployment: string; tag: string; environment: string; status: "approved" | "rejected" }[];
  skips?: Record<string, unknown>[];
}

export type OrderAction = "retry" | "redeploy" | "rollback";

const PAUSE_MS = 400;

export interface Planned {
  isAsking: boolean;
  plan?: PlanResult | undefined;
  error?: Error | undefined;
}

/** Asked for after a pause in typing; an answer to what is no longer asked is thrown away. */
export function usePlan(wish: PlanWish | null): Planned {
  const key = wish === null ? "" : JSON.stringify(wish);
  const [state, setState] = useState<Planned>({ isAsking: false });
  useEffect(() => {
    if (key === "") return setState({ isAsking: false });
    let isOver = false;
    setState((old) => ({ ...old, isAsking: true }));
    const timer = setTimeout(() => {
      send<PlanResult>("POST", "plan", JSON.parse(key)).then(
        (plan) => !isOver && setState({ isAsking: false, plan }),
        (error: Error) => !isOver && setState({ isAsking: false, error }),
      );
    }, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [key]);
  return state;
}

export function PlanPreview({ wish }: { wish: PlanWish | null }): ReactNode {
  const planned = usePlan(wish);
  return (
    <div className="foreseen" role="status" aria-busy={planned.isAsking}>
      {wish === null ? (
        <span className="soft">What follows from it is shown here once it is complete.</span>
      ) : planned.error !== undefined ? (
        <Trouble error={planned.error} />
      ) : planned.plan === undefined ? (
        <span className="soft">Asking what would follow …</span>
      ) : (
        <Foreseen plan={planned.plan} wish={wish} />
      )}
    </div>
  );
}

/** A plan in two sentences and its bars. */
export function Foreseen(properties: { plan: PlanResult; wish?: PlanWish; title?: string; scale?: number }): ReactNode {
  const { plan, wish, title = "If nothing else changes", scale } = properties;
  const found = summary(plan, wish && concernedBy(wish));
  return (
    <div className="plan">
      <p>
        <b>{title}:</b>{" "}
        {found.jobs === 0 ? (
          "nothing is started"
        ) : (
          <>
            {plural(found.jobs, "job")} on {plural(found.targets, "target")}
            {found.finish && (
              <>
                , the last one done <Time at={found.finish} />
              </>
            )}
          </>
        )}
        {found.wasCut && "; the plan is cut there, there is more to come"}.
      </p>
      {plan.rejected.map((one, index) => (
        <p key={index} className="trouble">
          {refusalOf(one)}
        </p>
      ))}
      {wish?.orders && found.moves.length > 0 && <Moves moves={found.moves} />}
      {found.waiting.length > 0 && (
        <ul className="plain small">
          {found.waiting.slice(0, 5).map((one) => (
            <li key={one.reason}>
              <b className="figures">{plural(one.count, "target")}</b> left waiting: <Sentence text={one.reason} />
            </li>
          ))}
          {found.waiting.length > 5 && <li className="soft">and {found.waiting.length - 5} other reasons</li>}
        </ul>
      )}
      {found.bars.length > 0 && <PlanBars rows={found.bars} {...(scale === undefined ? {} : { scale })} />}
    </div>
  );
}

const MOST_MOVES = 10;

/** Which targets go from which version to which. */
function Moves({ moves }: { moves: Move[] }): ReactNode {
  const { tables } = useStore();
  return (
    <ul className="plain small moves" aria-label="Targets that it moves">
      {moves.slice(0, MOST_MOVES).map(({ deployment, environment, resource, version }) => {
        const name = `${deployment}/${environment}/${resource}`;
        return (
          <li key={name}>
            {name}: {tables.targets.get(name)?.current ?? "nothing"} → <b>{version}</b>
          </li>
        );
      })}
      {moves.length > MOST_MOVES && <li className="soft">and {moves.length - MOST_MOVES} more</li>}
    </ul>
  );
}

/** What a change of the plan was refused for. */
export function refusalOf(one: PlanResult["rejected"][number]): string {
  const errors = (one["errors"] ?? []) as { message: string }[];
  return errors.length > 0 ? errors.map((error) => error.message).join("; ") : String(one["message"] ?? one["step"] ?? "it is refused");
}
