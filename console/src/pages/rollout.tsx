// One version on its way: where it is, what it waits for, and the way back.
import type { ReactNode } from "react";
import { ActButton } from "../acts/act";
import { freeze, orderMany, rejectVersion, vote } from "../acts/fleet";
import { all, get, place } from "../api/client";
import type { Approval, Budget, DeploymentExplanation, Job, LiveEvent, Page, ReasonGroup, Status, Version } from "../api/types";
import { ofKinds, useLive } from "../live/queries";
import { Link } from "../router";
import { Gantt } from "../ui/gantt";
import { Loading, Mark, PhaseMark, Section, Time, Trouble } from "../ui/parts";
import { plural } from "../words";
import { Budgets, Progress } from "./now";

export function Rollout({ deployment, tag }: { deployment: string; tag: string }): ReactNode {
  const mine = (event: LiveEvent): boolean => event.kind !== "Job" || event.data["deployment"] === deployment;
  const version = useLive(`version ${deployment} ${tag}`, () => get<Version>(`deployments/${place(deployment)}/versions/${place(tag)}`), ofKinds("Version"));
  const status = useLive(`status ${deployment}`, () => get<Status>("status", { deployment }));
  const why = useLive(`why ${deployment}`, () => get<DeploymentExplanation>(`deployments/${place(deployment)}/explain`));
  const jobs = useLive(`jobs ${deployment} ${tag}`, () => all<Job>("jobs", { deployment, cel: `job.version == ${JSON.stringify(tag)}` }), mine);
  const votes = useLive(`votes ${deployment} ${tag}`, () => get<Page<Approval>>("approvals", { deployment, tag }), ofKinds("Approval", "Version"));
  const budgets = useLive("budgets", () => get<Page<Budget>>("budgets"), ofKinds("Group", "Job", "Policy", "Budget"));
  const found = version.data;
  if (found === undefined) return version.error ? <Trouble error={version.error} /> : <Loading what="the version" />;
  const environments = status.data?.deployments.find((one) => one.name === deployment)?.environments ?? [];
  const policies = new Set(why.data?.reasons.map((reason) => reason.policy));
  const cel = `deployment.name == ${JSON.stringify(deployment)}`;
  return (
    <>
      <div className="head">
        <h1>
          {deployment} <b>{tag}</b>
        </h1>
        <span className="buttons">
          <ActButton act={freeze({ label: deployment, cel })} />
          <ActButton act={rejectVersion(deployment, tag)} />
        </span>
      </div>
      <section className="card answer">
        <p>
          published <Time at={found.publishedAt ?? found.createdAt} />
          {found.status !== "ready" && (
            <>
              {" "}
              <Mark tone={found.status === "rejected" || found.status === "failed" ? "bad" : "wait"} sign="●" word={found.status} />
            </>
          )}
          {found.targetSelector !== null && (
            <>
              {" "}
              <span className="badge">scoped</span> <code>{found.targetSelector}</code>
            </>
          )}
        </p>
        {found.message && <p>{found.message}</p>}
        <dl>
          {Object.entries(found.metadata).map(([key, value]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>
                {/^https?:\/\//.test(value) ? (
                  <a href={value} rel="noreferrer noopener" target="_blank">
                    {value}
                  </a>
                ) : (
                  value
                )}
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <Section title="Environments" id="environments">
        {environments.map((environment) => (
          <div key={environment.name} className="row">
            <b>{environment.name}</b>
            <span className="grow">
              <Progress environment={environment} />
            </span>
            <span className="buttons">
              {environment.counts.failed > 0 && <ActButton act={orderMany("retry", deployment, environment.name)} />}
              <ActButton act={orderMany("rollback", deployment, environment.name)} />
            </span>
          </div>
        ))}
      </Section>
      <Waiting deployment={deployment} reasons={why.data?.reasons ?? []} />
      <Votes votes={votes.data?.items ?? []} />
      <Section title="Jobs over time" id="gantt">
        <Gantt jobs={jobs.data ?? []} />
      </Section>
      <Budgets budgets={(budgets.data?.items ?? []).filter((budget) => policies.has(budget.policy))} />
    </>
  );
}

/** Who waits, grouped by what for: ten thousand that wait for one thing are one line. */
function Waiting({ deployment, reasons }: { deployment: string; reasons: ReasonGroup[] }): ReactNode {
  const waiting = reasons.filter((reason) => reason.state !== "upToDate");
  if (waiting.length === 0) return null;
  return (
    <Section title="Waiting, by reason" id="waiting">
      <ul className="plain">
        {waiting.map((reason) => (
          <li key={reason.environment + reason.message} className="row">
            <PhaseMark state={reason.state} />
            <b className="figures">{plural(reason.count, "target")}</b>
            <span className="grow">
              {reason.message}
              {reason.changes && <small className="soft"> Changes {reason.changes}.</small>}
              <small className="links">
                {reason.targets.slice(0, 6).map((name) => (
                  <Link key={name} href={`/targets/${name.split("/").map(encodeURIComponent).join("/")}`}>
                    {name.split("/").slice(1).join("/")}
                  </Link>
                ))}
                {reason.count > 6 && <span> and {reason.count - 6} more</span>}
              </small>
            </span>
            {reason.type === "approval" && reason.version !== null && (
              <span className="buttons">
                <ActButton act={vote("approved", deployment, reason.version, reason.environment)} />
                <ActButton act={vote("rejected", deployment, reason.version, reason.environment)} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Votes({ votes }: { votes: Approval[] }): ReactNode {
  if (votes.length === 0) return null;
  return (
    <Section title="Approvals" id="approvals">
      <ul className="plain">
        {votes.map((one) => (
          <li key={one.user + one.environment} className="row">
            <Mark tone={one.status === "approved" ? "good" : "bad"} sign={one.status === "approved" ? "✓" : "✕"} word={one.status} />
            <span className="grow">
              {one.user} for {one.environment}
              {one.reason && `: ${one.reason}`}
            </span>
            <Time at={one.at} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
