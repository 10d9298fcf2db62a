// Why a target has not changed yet: its gates in order, what ends each wait, and who can end it.
import type { ReactNode } from "react";
import { ActButton } from "../acts/act";
import { onGroup, order, skip } from "../acts/fleet";
import { get, place } from "../api/client";
import type { Explanation, Group, Job, LiveEvent, Page, RuleLine, TargetDetail } from "../api/types";
import { useLive } from "../live/queries";
import { Link, to } from "../router";
import { Command, Loading, Mark, PhaseMark, Section, Time, Trouble } from "../ui/parts";
import { Cycle } from "../ui/cycle";
import { jobTone, spaced } from "../words";

const VERDICTS = {
  allowed: { tone: "good", sign: "✓" },
  pending: { tone: "wait", sign: "○" },
  denied: { tone: "bad", sign: "✕" },
  error: { tone: "bad", sign: "!" },
} as const;

export function Target({ deployment, environment, resource }: { deployment: string; environment: string; resource: string }): ReactNode {
  const name = place(deployment, environment, resource);
  const concerns = (event: LiveEvent): boolean => event.kind !== "Job" || event.data["resource"] === resource || event.data["deployment"] === deployment;
  const explanation = useLive(`explain ${name}`, () => get<Explanation>(`release-targets/${name}/explain`));
  const detail = useLive(`target ${name}`, () => get<TargetDetail>(`release-targets/${name}`), concerns);
  const jobs = useLive(`jobs ${name}`, () => get<Page<Job>>(`release-targets/${name}/jobs`), concerns);
  const found = explanation.data;
  const target = { deployment, environment, resource };
  if (found === undefined) return explanation.error ? <Trouble error={explanation.error} /> : <Loading what="the target" />;
  return (
    <>
      <div className="head">
        <h1>
          {deployment} <span className="soft">on</span> {resource} <span className="soft">in {environment}</span>
        </h1>
        <span className="buttons">
          <ActButton act={order("retry", target)} />
          <ActButton act={order("redeploy", target)} />
          <ActButton act={order("rollback", target)} />
        </span>
      </div>
      <section className="card answer">
        <p>
          <PhaseMark state={found.state} /> <b>{found.message}</b>
        </p>
        {found.changes && <p>Changes {found.changes}.</p>}
        <dl>
          <div>
            <dt>runs</dt>
            <dd>{found.current ?? "nothing"}</dd>
          </div>
          <div>
            <dt>wanted</dt>
            <dd>{found.desired === null ? "–" : <Link href={to("rollouts", deployment, found.desired)}>{found.desired}</Link>}</dd>
          </div>
          <div>
            <dt>since</dt>
            <dd>
              <Time at={detail.data?.deployedAt} />
            </dd>
          </div>
          {found.nextEvaluationTime && (
            <div>
              <dt>looked at again</dt>
              <dd>
                <Time at={found.nextEvaluationTime} />
              </dd>
            </div>
          )}
        </dl>
        {found.warnings.map((warning) => (
          <p key={warning} className="trouble">
            {warning}
          </p>
        ))}
      </section>
      <Gates rules={found.rules} target={target} />
      {found.actions.length > 0 && (
        <Section title="What you can do" id="can">
          <ul className="plain">
            {found.actions.map((action) => (
              <li key={action.command}>
                {action.effect} <span className="soft">({action.roles.join(", ")})</span>
                <Command text={action.command} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      {detail.data?.group && <InCycle id={detail.data.group} />}
      <Jobs jobs={jobs.data?.items ?? []} />
    </>
  );
}

function Gates({ rules, target }: { rules: RuleLine[]; target: { deployment: string; environment: string; resource: string } }): ReactNode {
  return (
    <Section title="Gates, in order" id="gates">
      {rules.length === 0 ? (
        <p className="soft">No rule has to be asked.</p>
      ) : (
        <ol className="gates">
          {rules.map((rule, index) => {
            const verdict = VERDICTS[rule.verdict];
            return (
              <li key={index}>
                <Mark tone={verdict.tone} sign={verdict.sign} word={rule.verdict} />
                <div className="grow">
                  <b>{rule.rule ?? spaced(rule.type)}</b>{" "}
                  <span className="soft">
                    {spaced(rule.type)}
                    {rule.policy && (
                      <>
                        {" of "}
                        <Link href={to("policies", rule.policy)}>{rule.policy}</Link>
                      </>
                    )}
                  </span>
                  <p>{rule.message}</p>
                  {rule.nextEvaluationTime && (
                    <small className="soft">
                      asked again <Time at={rule.nextEvaluationTime} />
                    </small>
                  )}
                </div>
                {rule.verdict !== "allowed" && rule.policy !== null && (
                  <ActButton act={skip(rule.rule ?? rule.type, rule.policy, { ...target, tag: rule.version })} />
                )}
              </li>
            );
          })}
        </ol>
      )}
    </Section>
  );
}

function InCycle({ id }: { id: string }): ReactNode {
  const group = useLive(`group ${id}`, () => get<Group>(`groups/${place(id)}`), (event) => event.kind === "Group" || event.kind === "Job");
  if (group.data === undefined) return <Trouble error={group.error} />;
  const one = group.data;
  return (
    <Section
      title={`Cycle on ${one.resource}: ${spaced(one.status)}`}
      id="cycle"
      acts={
        one.status === "failed" ? (
          <span className="buttons">
            <ActButton act={onGroup("retry", one.id, one.resource)} />
            <ActButton act={onGroup("abort", one.id, one.resource)} />
            <ActButton act={onGroup("release", one.id, one.resource)} />
          </span>
        ) : undefined
      }
    >
      {one.reason && <p>{one.reason}</p>}
      <Cycle group={one} />
    </Section>
  );
}

function Jobs({ jobs }: { jobs: Job[] }): ReactNode {
  return (
    <Section title="Jobs" id="jobs">
      {jobs.length === 0 ? (
        <p className="soft">None yet.</p>
      ) : (
        <div className="scroll">
          <table>
            <thead>
              <tr>
                <th>Version</th>
                <th>Status</th>
                <th>Kind</th>
                <th>Attempt</th>
                <th>Begun</th>
                <th>Ended</th>
                <th className="grow">Message</th>
              </tr>
            </thead>
            <tbody>
              {jobs.map((job) => (
                <tr key={job.id}>
                  <td>{job.version}</td>
                  <td>
                    <Mark tone={jobTone(job.status)} sign="●" word={spaced(job.status)} />
                  </td>
                  <td>{job.kind}</td>
                  <td>{job.attempt}</td>
                  <td>
                    <Time at={job.startedAt ?? job.createdAt} />
                  </td>
                  <td>
                    <Time at={job.completedAt} />
                  </td>
                  <td className="wide">
                    {job.message}
                    {Object.entries(job.links).map(([label, href]) =>
                      /^https?:/.test(href) ? (
                        <a key={label} href={href} rel="noreferrer noopener" target="_blank">
                          {" "}
                          {label}
                        </a>
                      ) : null,
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}
