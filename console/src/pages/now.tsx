// What is moving, what needs a person, and the button that stops it.
import type { ReactNode } from "react";
import { ActButton } from "../acts/act";
import { freeze, onGroup, unfreeze, vote } from "../acts/fleet";
import { all, get } from "../api/client";
import type { DeploymentExplanation, EnvironmentStatus, Forecast, Freeze, Group, Job, Page, Status } from "../api/types";
import { ofKinds, useLive } from "../live/queries";
import { placeByName, useJobs, useObjects, useStore } from "../live/tables";
import { Link, to } from "../router";
import { Bar, Empty, Loading, Section, Sentence, Time, useNow } from "../ui/parts";
import { parts, plural } from "../words";
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
  const expected = (line: Line): ReactNode => {
    const found = forecast.data?.rollouts.find((one) => one.deployment === line.deployment && one.environment === line.environment.name);
    if (found === undefined) return <span className="soft">–</span>;
    return found.finishAt === null ? <span className="soft whole">needs a person</span> : <Time at={found.finishAt} />;
  };
  return (
    <div className="scroll">
      <table className="cards">
        <thead>
          <tr>
            <th>Rollout</th>
            <th>Environment</th>
            <th className="grow">Progress</th>
            <th>Done</th>
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
              <td title={forecast.data && `if nothing else changes; as of ${forecast.data.ageSeconds} s ago`}>{expected({ deployment, environment })}</td>
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
              {group.policy} on {group.environment}/{group.resource}: <Sentence text={group.reason} />
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
  const explanation = useLive(
    `why ${deployment}`,
    () => get<DeploymentExplanation>(`deployments/${encodeURIComponent(deployment)}/explain`),
    ofKinds("Version", "Approval", "Skip", "Freeze", "Policy", "Deployment", "Environment"),
  );
  const waiting = explanation.data?.reasons.filter(
    (reason) => reason.environment === environment.name && reason.type === "approval" && reason.version !== null,
  );
  return waiting?.map((reason) => (
    <li key={reason.message} className="row">
      <span className="mark wait">○ approval</span>
      <span className="grow">
        <Link href={to("rollouts", deployment, reason.version ?? "")}>{deployment}</Link>: <Sentence text={reason.message} />
      </span>
      <ActButton act={vote("approved", deployment, reason.version ?? "", environment.name)} />
      <ActButton act={vote("rejected", deployment, reason.version ?? "", environment.name)} />
    </li>
  ));
}
