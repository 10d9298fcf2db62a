// What is moving, what needs a person, and the button that stops it.
import type { ReactNode } from "react";
import { ActButton } from "../acts/act";
import { freeze, onGroup, order, orderMany, unfreeze, vote } from "../acts/fleet";
import { all, get, place } from "../api/client";
import type { DeploymentExplanation, EnvironmentStatus, Forecast, Freeze, Group, Job, Page, ReasonGroup, Status } from "../api/types";
import { changesNeed, mayNeedSomebody, stuck } from "../live/needed";
import { ofKinds, useLive } from "../live/queries";
import { placeByName, useJobs, useObjects, useStore } from "../live/tables";
import { Link, to } from "../router";
import { partsOf } from "../time/moments";
import { Expected, type Finish, later } from "../ui/expected";
import { Bar, Empty, Loading, PhaseMark, Section, Sentence, Time, useNow } from "../ui/parts";
import { firstLine, parts, plural } from "../words";
import { BudgetRows } from "./limits";

interface Line {
  deployment: string;
  environment: EnvironmentStatus;
}

export function Now(): ReactNode {
  const store = useStore();
  const status = store.status;
  const freezes = useObjects<Freeze>("freezes", "Freeze", () => all<Freeze>("freezes"), placeByName);
  const failed = useLive("failed", () => get<Page<Group>>("groups", { status: "failed" }), ofKinds("Group"));
  const lines = linesOf(status);
  const moving = lines.filter((line) => !isDone(line));
  return (
    <>
      <div className="head">
        <h1>Now</h1>
        <ActButton act={freeze()} />
      </div>
      <Freezes freezes={freezes.items ?? []} />
      {status?.warnings.map((warning) => (
        <p key={warning} className="trouble">
          {warning}
        </p>
      ))}
      <Needed lines={moving} groups={failed.data?.items ?? []} />
      <Section title={`In motion: ${plural(moving.length, "rollout")}`} id="motion">
        {status === undefined ? (
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
      <SilentAgents />
      <BudgetRows tables={store.tables} />
    </>
  );
}

const LONG_MS = 60_000;
const MOST_NAMED = 3;

/** Jobs that were handed out and that nobody has begun: who should have is not there. */
function SilentAgents(): ReactNode {
  const jobs = useJobs("handed out", () => all<Job>("jobs", { status: "pending" }, 2_000), () => true);
  const now = useNow();
  const late = (jobs.items ?? []).filter((job) => job.status === "pending" && now - Date.parse(job.createdAt) > LONG_MS);
  const by = Map.groupBy(late, (job) => job.agent ?? "no agent");
  if (by.size === 0) return null;
  return (
    <Section title="Agents that do not answer" id="agents">
      <ul className="plain">
        {[...by].map(([agent, of]) => (
          <li key={agent} className="row">
            <span className="mark bad">✕ {agent}</span>
            <span className="grow">
              has not begun {plural(of.length, "job")}, the first of them handed out <Time at={of.map((job) => job.createdAt).sort()[0]} />:{" "}
              {of.slice(0, 3).map((job) => `${job.deployment} on ${job.resource}`).join(", ")}
              {of[0]?.message && <small className="soft"> {of[0].message}</small>}
            </span>
          </li>
        ))}
      </ul>
    </Section>
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
  const forecast = useLive("forecast", () => get<Forecast>("forecast"), ofKinds("Version", "Policy", "Freeze", "Group", "Approval"));
  const expected = ({ deployment, environment }: Line): Finish | undefined => {
    const plan = forecast.data;
    const found = plan?.rollouts.find((one) => one.deployment === deployment && one.environment === environment.name);
    return later(environment.expectedFinish, plan && found && { at: found.finishAt, madeAt: plan.madeAt });
  };
  return (
    <div className="scroll">
      <table className="cards">
        <thead>
          <tr>
            <th>Rollout</th>
            <th>Environment</th>
            <th className="grow">Progress</th>
            <th>Expected done</th>
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
              <td>
                <Expected finish={expected({ deployment, environment })} />
              </td>
              <td className="wide soft">
                <Sentence text={environment.waiting[0]?.message ?? ""} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Progress({ environment }: { environment: EnvironmentStatus }): ReactNode {
  const bar = parts(environment.counts);
  return (
    <>
      <Bar parts={bar} />
      <small className="soft">
        {bar
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

/** Cycles that failed, votes that are asked for, and whatever else only a person ends. */
function Needed({ lines, groups }: { lines: Line[]; groups: Group[] }): ReactNode {
  const asked = new Set(lines.filter((line) => mayNeedSomebody(line.environment.counts)).map((line) => line.deployment));
  return (
    <Section title="Needs a person" id="needed">
      <ul className="plain">
        {groups.map((group) => (
          <FailedCycle key={group.id} group={group} />
        ))}
        {[...asked].map((deployment) => (
          <NeededBy key={deployment} deployment={deployment} groups={groups} />
        ))}
      </ul>
      <p className="soft if-alone">Nobody is waited for.</p>
    </Section>
  );
}

function FailedCycle({ group }: { group: Group }): ReactNode {
  const failed = group.members.find((member) => member.state === "failed") ?? group.members[0];
  const where = `${group.environment}/${group.resource}`;
  return (
    <li className="row">
      <span className="mark bad">✕ cycle failed</span>
      <span className="grow">
        {group.policy} on {failed === undefined ? where : <Link href={to("targets", failed.deployment, group.environment, group.resource)}>{where}</Link>}:{" "}
        <Sentence text={firstLine(group.reason)} />
      </span>
      <ActButton act={onGroup("retry", group.id, group.resource)} />
      <ActButton act={onGroup("release", group.id, group.resource)} />
    </li>
  );
}

function NeededBy({ deployment, groups }: { deployment: string; groups: Group[] }): ReactNode {
  const { tables } = useStore();
  const explanation = useLive(`needed ${deployment}`, () => get<DeploymentExplanation>(`deployments/${place(deployment)}/explain`), changesNeed);
  const { approvals = [], reasons = [] } = explanation.data ?? {};
  return (
    <>
      {stuck(deployment, reasons, groups, tables.targets).map((reason) => (
        <Stuck key={`${reason.environment} ${reason.state} ${reason.message}`} deployment={deployment} reason={reason} />
      ))}
      {approvals.map((one) => (
        <li key={`${one.environment} ${one.version} ${one.policy} ${one.rule}`} className="row">
          <span className="mark wait">○ approval</span>
          <span className="grow">
            <Link href={to("rollouts", deployment, one.version)}>{deployment}</Link>: <Sentence text={one.message} />
          </span>
          <ActButton act={vote("approved", deployment, one.version, one.environment)} />
          <ActButton act={vote("rejected", deployment, one.version, one.environment)} />
        </li>
      ))}
    </>
  );
}

function Stuck({ deployment, reason }: { deployment: string; reason: ReasonGroup }): ReactNode {
  const shown = reason.targets.slice(0, MOST_NAMED).map(partsOf);
  const one = reason.count === 1 ? shown[0] : undefined;
  return (
    <li className="row">
      <PhaseMark state={reason.state} />
      <span className="grow">
        {deployment} on{" "}
        {shown.map(({ environment, resource }, index) => (
          <span key={resource}>
            {index > 0 && ", "}
            <Link href={to("targets", deployment, environment, resource)}>{resource}</Link>
          </span>
        ))}
        {reason.count > shown.length && ` and ${reason.count - shown.length} more`} in {reason.environment}: <Sentence text={firstLine(reason.message)} />
      </span>
      {reason.state === "failed" && <ActButton act={one ? order("retry", one) : orderMany("retry", deployment, reason.environment)} />}
    </li>
  );
}
