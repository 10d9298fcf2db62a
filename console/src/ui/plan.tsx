// What would happen, from the server's own plan: in a dialog before an act, and side by side for a policy.
import { type ReactNode, useEffect, useState } from "react";
import { Refused, send } from "../api/client";
import type { PlanResult } from "../api/types";
import { useStore } from "../live/tables";
import { PlanBars } from "./planbars";
import { plural } from "../words";
import { Sentence, Time, Trouble } from "./parts";
import { broughtTo, concernedBy, isRefused, type Move, summary } from "./planning";
import { Written } from "./text";

export interface PlanWish {
  manifests?: unknown[];
  version?: Record<string, unknown>;
  deletions?: { kind: string; name: string }[];
  force?: boolean;
  orders?: { action: OrderAction; deployment: string; environment: string; resources?: string[]; to?: string }[];
  groups?: { action: "retry" | "abort" | "release"; group: string }[];
  statuses?: { deployment: string; tag: string; status: "ready" | "paused" | "rejected"; rollback?: boolean }[];
  approvals?: { deployment: string; tag: string; environment: string; status: "approved" | "rejected" | "withdrawn" }[];
  skips?: Record<string, unknown>[];
  endedSkips?: string[];
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

/** Why what is wished cannot be done, as its plan says; undefined if it can, or while that is not known. */
export function refusedFor(wish: PlanWish | null, planned: Planned): string | undefined {
  if (wish === null || planned.isAsking) return undefined;
  if (planned.error instanceof Refused && UNDOABLE.has(planned.error.status)) return planned.error.message;
  if (planned.plan === undefined || !isRefused(wish, planned.plan)) return undefined;
  return planned.plan.rejected.map(refusalOf).join("; ");
}

const UNDOABLE = new Set([400, 409, 422]);

/** Of a plan that somebody has asked for already. */
export function Preview({ wish, planned }: { wish: PlanWish | null; planned: Planned }): ReactNode {
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
  const [isWhole, setWhole] = useState(false);
  return (
    <ul className="plain small moves" aria-label="Targets that it moves">
      {(isWhole ? moves : moves.slice(0, MOST_MOVES)).map(({ deployment, environment, resource, version }) => {
        const name = `${deployment}/${environment}/${resource}`;
        const current = tables.targets.get(name)?.current ?? "nothing";
        return (
          <li key={name}>
            <Written text={name} />: <Written text={current} /> →{" "}
            <b>
              <Written text={version} />
            </b>
            {current === version && " again"}
          </li>
        );
      })}
      {moves.length > MOST_MOVES && !isWhole && (
        <li>
          <button type="button" className="quiet" onClick={() => setWhole(true)}>
            and {moves.length - MOST_MOVES} more
          </button>
        </li>
      )}
    </ul>
  );
}

/** What takes a version away may bring it elsewhere: to whom it went before, and to who is still to come. */
export function Spread({ plan, deployment, tag, children }: { plan: PlanResult; deployment: string; tag: string; children: ReactNode }): ReactNode {
  const { tables } = useStore();
  const names = broughtTo(plan, deployment, tag, (name) => tables.targets.get(name)?.current ?? null);
  if (names.length === 0) return null;
  return (
    <div className="trouble" role="alert">
      <strong>
        {plural(names.length, "target")} {names.length === 1 ? "gets" : "get"} {tag} all the same
      </strong>
      <span>
        {names.slice(0, 3).join(", ")}
        {names.length > 3 && ` and ${names.length - 3} more`}: going back keeps no target from {tag}. Rejecting the version does.
      </span>
      {children}
    </div>
  );
}

/** What a change of the plan was refused for. */
export function refusalOf(one: PlanResult["rejected"][number]): string {
  const errors = (one["errors"] ?? []) as { message: string }[];
  return errors.length > 0 ? errors.map((error) => error.message).join("; ") : String(one["message"] ?? one["step"] ?? "it is refused");
}
