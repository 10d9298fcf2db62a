// What is moving, what needs a person, and the button that stops it.
import type { ReactNode } from "react";
import { ActButton } from "../acts/act";
import { freeze, onGroup, unfreeze, vote } from "../acts/fleet";
import { all, get } from "../api/client";
import type { Budget, DeploymentExplanation, EnvironmentStatus, Freeze, Group, Page, Status } from "../api/types";
import { ofKinds, useLive } from "../live/queries";
import { Link, to } from "../router";
import { Bar, Empty, Loading, Section, Time, Trouble } from "../ui/parts";
import { plural } from "../words";

interface Line {
  deployment: string;
  environment: EnvironmentStatus;
}

export function Now(): ReactNode {
  const status = useLive("status", () => get<Status>("status"));
  const freezes = useLive("freezes", () => all<Freeze>("freezes"), ofKinds("Freeze"));
  const budgets = useLive("budgets", () => get<Page<Budget>>("budgets"), ofKinds("Group", "Job", "Policy", "Budget"));
  const failed = useLive("failed", () => get<Page<Group>>("groups", { status: "failed" }), ofKinds("Group"));
  const lines = linesOf(status.data);
  const moving = lines.filter((line) => !isDone(line));
  return (
    <>
      <div className="head">
        <h1>Now</h1>
        <ActButton act={freeze()} />
      </div>
      <Trouble error={status.error} />
      <Freezes freezes={freezes.data ?? []} />
      {status.data?.warnings.map((warning) => (
        <p key={warning} className="trouble">
          {warning}
        </p>
      ))}
      <Needed lines={moving} groups={failed.data?.items ?? []} />
      <Section title={`In motion: ${plural(moving.length, "rollout")}`} id="motion">
        {status.data === undefined ? (
          <Loading what="rollouts" />
        ) : lines.length === 0 ? (
          <Empty command="headgate apply -f fleet.yaml">Nothing is known yet. Tell the service what there is:</Empty>
        ) : moving.length === 0 ? (
          <Empty command={`headgate publish ${lines[0]?.deployment ?? "DEPLOYMENT"} v2`}>
            Everything is up to date. Publish a version, and watch it go out here:
          </Empty>
        ) : (
          <Rollouts lines={moving} />
        )}
      </Section>
      <Budgets budgets={budgets.data?.items ?? []} />
    </>
  );
}

function linesOf(status: Status | undefined): Line[] {
  return (status?.deployments ?? []).flatMap((one) =>
    one.environments.map((environment) => ({ deployment: one.name, environment })),
  );
}

function isDone({ environment: { counts } }: Line): boolean {
  return counts.waiting + counts.running + counts.verifying + counts.rollingBack + counts.rolledBack + counts.failed + counts.frozen === 0;
}

function Rollouts({ lines }: { lines: Line[] }): ReactNode {
  return (
    <div className="scroll">
      <table>
        <thead>
          <tr>
            <th>Rollout</th>
            <th>Environment</th>
            <th className="grow">Progress</th>
            <th>Waits for</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ deployment, environment }) => (
            <tr key={`${deployment}/${environment.name}`}>
              <td>
                {environment.newest === null ? (
                  deployment
                ) : (
                  <Link href={to("rollouts", deployment, environment.newest)}>
                    {deployment} <b>{environment.newest}</b>
                  </Link>
                )}
              </td>
              <td>{environment.name}</td>
              <td>
                <Progress environment={environment} />
              </td>
              <td className="wide soft">{environment.waiting[0]?.message ?? ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Progress({ environment }: { environment: EnvironmentStatus }): ReactNode {
  const { counts } = environment;
  const parts = [
    { tone: "good" as const, count: counts.upToDate, word: "up to date" },
    { tone: "busy" as const, count: counts.running + counts.verifying, word: "running" },
    { tone: "wait" as const, count: counts.waiting, word: "waiting" },
    { tone: "bad" as const, count: counts.failed + counts.rollingBack + counts.rolledBack, word: "failed or rolled back" },
    { tone: "quiet" as const, count: counts.frozen, word: "frozen" },
  ];
  return (
    <>
      <Bar parts={parts} />
      <small className="soft">
        {parts
          .filter((part) => part.count > 0)
          .map((part) => `${part.count} ${part.word}`)
          .join(" · ")}
      </small>
    </>
  );
}

function Freezes({ freezes }: { freezes: Freeze[] }): ReactNode {
  return freezes.map((one) => (
    <div key={one.id} className="notice" role="status">
      <span>
        ‖ <b>{one.name}</b>: {one.reason} <span className="soft">set by {one.user}, </span>
        <Time at={one.createdAt} />
        {one.expiresAt && (
          <>
            , ends <Time at={one.expiresAt} />
          </>
        )}
      </span>
      <ActButton act={unfreeze(one)} />
    </div>
  ));
}

/** Approvals that are waited for, and cycles that failed: nothing of this moves by itself. */
function Needed({ lines, groups }: { lines: Line[]; groups: Group[] }): ReactNode {
  const asked = lines.filter((line) => line.environment.counts.waiting > 0);
  return (
    <Section title="Needs a person" id="needed">
      <ul className="plain">
        {groups.map((group) => (
          <li key={group.id} className="row">
            <span className="mark bad">✕ cycle failed</span>
            <span className="grow">
              {group.policy} on {group.environment}/{group.resource}: {group.reason}
            </span>
            <ActButton act={onGroup("retry", group.id, group.resource)} />
            <ActButton act={onGroup("release", group.id, group.resource)} />
          </li>
        ))}
        {asked.map((line) => (
          <Approvals key={`${line.deployment}/${line.environment.name}`} line={line} />
        ))}
      </ul>
      <p className="soft if-alone">Nobody is waited for.</p>
    </Section>
  );
}

function Approvals({ line }: { line: Line }): ReactNode {
  const { deployment, environment } = line;
  const explanation = useLive(`why ${deployment}`, () =>
    get<DeploymentExplanation>(`deployments/${encodeURIComponent(deployment)}/explain`),
  );
  const waiting = explanation.data?.reasons.filter(
    (reason) => reason.environment === environment.name && reason.type === "approval" && reason.version !== null,
  );
  return waiting?.map((reason) => (
    <li key={reason.message} className="row">
      <span className="mark wait">○ approval</span>
      <span className="grow">
        <Link href={to("rollouts", deployment, reason.version ?? "")}>{deployment}</Link>: {reason.message}
      </span>
      <ActButton act={vote("approved", deployment, reason.version ?? "", environment.name)} />
      <ActButton act={vote("rejected", deployment, reason.version ?? "", environment.name)} />
    </li>
  ));
}

export function Budgets({ budgets }: { budgets: Budget[] }): ReactNode {
  if (budgets.length === 0) return null;
  return (
    <Section title="Limits" id="limits">
      <ul className="plain">
        {budgets.map((budget) => (
          <li key={`${budget.ruleId} ${budget.environment} ${budget.scope}`} className="row">
            <span className="gauge" role="img" aria-label={`${budget.used} of ${budget.limit} used`}>
              {Array.from({ length: Math.min(budget.limit, 40) }, (_, index) => (
                <i key={index} className={index < budget.used ? "busy" : ""} />
              ))}
            </span>
            <b className="figures">
              {budget.used} of {budget.limit}
            </b>
            <span className="grow">
              {budget.rule} <span className="soft">({budget.policy})</span>
            </span>
            <span className="soft">{budget.holders.map((holder) => holder.name).join(", ")}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
