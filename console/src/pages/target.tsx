// Why a target has not changed yet: its gates in order, what ends each wait, and who can end it.
import { type ReactNode, useState } from "react";
import { ActButton } from "../acts/act";
import { onGroup, order, skip } from "../acts/fleet";
import { Refusals } from "../acts/obstacles";
import { all, get, place } from "../api/client";
import type { Action, Bracket, Explanation, Group, Job, LiveEvent, Page, RuleLine, TargetDetail, TargetVariable } from "../api/types";
import { ofKinds, useLive } from "../live/queries";
import { useJobs, useObjects } from "../live/tables";
import { go, Link, to, usePlace, withQuery } from "../router";
import { Cycle } from "../ui/cycle";
import { Log } from "../ui/joblog";
import { Command, Loading, Mark, PhaseMark, Section, Sentence, Time, Trouble } from "../ui/parts";
import { Brief, Written } from "../ui/text";
import { endOf, whoCan } from "../ui/gates";
import { jobSign, jobTone, spaced } from "../words";

interface Where {
  deployment: string;
  environment: string;
  resource: string;
}

const VERDICTS = {
  allowed: { tone: "good", sign: "✓" },
  pending: { tone: "wait", sign: "○" },
  denied: { tone: "bad", sign: "✕" },
  error: { tone: "bad", sign: "!" },
} as const;

export function Target({ deployment, environment, resource }: Where): ReactNode {
  const name = place(deployment, environment, resource);
  const concerns = (event: LiveEvent): boolean => event.kind !== "Job" || event.data["resource"] === resource || event.data["deployment"] === deployment;
  const explanation = useLive(`explain ${name}`, () => get<Explanation>(`release-targets/${name}/explain`));
  const detail = useLive(`target ${name}`, () => get<TargetDetail>(`release-targets/${name}`), concerns);
  const jobs = useJobs(
    `jobs ${name}`,
    async () => (await get<Page<Job>>(`release-targets/${name}/jobs`)).items,
    ({ data }) => data["deployment"] === deployment && data["environment"] === environment && data["resource"] === resource,
  );
  const found = explanation.data;
  const target = { deployment, environment, resource };
  const acts = (["retry", "redeploy", "rollback"] as const).map((action) => order(action, target, detail.data?.orders ?? null));
  if (found === undefined) return explanation.error ? <Trouble error={explanation.error} /> : <Loading what="the target" />;
  return (
    <>
      <div className="head">
        <h1>
          <Written text={deployment} /> <span className="soft">on</span> <Written text={resource} />{" "}
          <span className="soft">
            in <Written text={environment} />
          </span>
        </h1>
        <span className="buttons">
          {acts.map((act) => (
            <ActButton key={act.label} act={act} />
          ))}
        </span>
      </div>
      <Refusals acts={acts} />
      <Answer found={found} detail={detail.data} deployment={deployment} />
      <div className="aside">
        <div className="stack">
          <Gates rules={found.rules} actions={found.actions} target={target} />
          {found.slots.length > 0 && <Slots found={found} />}
          {found.actions.length > 0 && (
            <Section title="What you can do" id="can">
              <ul className="plain">
                {found.actions.map((action) => (
                  <li key={action.command}>
                    <Sentence text={action.effect} /> <span className="soft">({action.roles.join(", ")})</span>
                    <Command text={action.command} />
                  </li>
                ))}
              </ul>
            </Section>
          )}
          {detail.data?.group && <InCycle id={detail.data.group} />}
        </div>
        <div className="stack">
          <History jobs={jobs.items} error={jobs.error} />
          <Variables name={name} />
        </div>
      </div>
    </>
  );
}

function Answer({ found, detail, deployment }: { found: Explanation; detail: TargetDetail | undefined; deployment: string }): ReactNode {
  return (
    <section className="card answer">
      <p>
        <PhaseMark state={found.state} /> <b><Brief text={found.message} /></b>
      </p>
      {found.changes && <p>Changes <Sentence text={found.changes} />.</p>}
      <dl>
        <div>
          <dt>runs</dt>
          <dd>{found.current === null ? "nothing" : <Link href={to("rollouts", deployment, found.current)}>{found.current}</Link>}</dd>
        </div>
        <div>
          <dt>wanted</dt>
          <dd>{found.desired === null ? "–" : <Link href={to("rollouts", deployment, found.desired)}>{found.desired}</Link>}</dd>
        </div>
        <div>
          <dt>since</dt>
          <dd>
            <Time at={detail?.deployedAt} />
          </dd>
        </div>
        {detail !== undefined && detail.verification !== "none" && (
          <div>
            <dt>verification</dt>
            <dd>{detail.verification}</dd>
          </div>
        )}
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
  );
}

function Gates({ rules, actions, target }: { rules: RuleLine[]; actions: Action[]; target: Where }): ReactNode {
  return (
    <Section title="Gates, in order" id="gates">
      {rules.length === 0 ? (
        <p className="soft">No rule has to be asked.</p>
      ) : (
        <ol className="gates">
          {rules.map((rule, index) => {
            const verdict = VERDICTS[rule.verdict];
            const end = endOf(rule);
            const who = whoCan(rule, actions);
            const act =
              rule.verdict !== "allowed" && rule.policy !== null
                ? skip({ rule: rule.rule ?? rule.type, policy: rule.policy, refusal: rule.skipRefusal ?? undefined }, { ...target, tag: rule.version })
                : undefined;
            return (
              <li key={index}>
                <Mark tone={verdict.tone} sign={verdict.sign} word={rule.verdict} />
                <div className="grow">
                  <b><Written text={rule.rule ?? spaced(rule.type)} /></b>{" "}
                  <span className="soft">
                    {spaced(rule.type)}
                    {rule.policy && (
                      <>
                        {" of "}
                        <Link href={to("policies", rule.policy)}>{rule.policy}</Link>
                      </>
                    )}
                    {rule.version && ` for ${rule.version}`}
                  </span>
                  <p><Brief text={rule.message} /></p>
                  {rule.verdict === "allowed" ? (
                    rule.satisfiedAt && (
                      <small className="soft">
                        passed <Time at={rule.satisfiedAt} />
                      </small>
                    )
                  ) : (
                    <small className="soft">
                      {end.at ? (
                        <>
                          ends <Time at={end.at} />
                        </>
                      ) : (
                        `ends ${end.event}`
                      )}
                      {who && ` · ${who}`}
                    </small>
                  )}
                  {act && <Refusals acts={[act]} />}
                </div>
                {act && <ActButton act={act} />}
              </li>
            );
          })}
        </ol>
      )}
    </Section>
  );
}

function Slots({ found }: { found: Explanation }): ReactNode {
  return (
    <Section title="Slots" id="slots">
      <ul className="plain">
        {found.slots.map((slot) => (
          <li key={slot.policy + slot.rule} className="row">
            <Mark tone={slot.held ? "busy" : "quiet"} sign={slot.held ? "▶" : "–"} word={slot.held ? "held" : "not held"} />
            <span className="grow">
              <b><Written text={slot.rule} /></b> <span className="soft">of <Written text={slot.policy} /></span>: <Sentence text={slot.message} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function InCycle({ id }: { id: string }): ReactNode {
  const group = useObjects<Group>(
    `group ${id}`,
    "Group",
    async () => [await get<Group>(`groups/${place(id)}`)],
    (items, told, object) => (told === id && object !== null ? [object as Group] : items),
  );
  const one = group.items?.[0];
  if (one === undefined) return <Trouble error={group.error} />;
  const acts = (["retry", "abort", "release"] as const).map((action) => onGroup(action, one));
  return (
    <Section
      title={`Cycle on ${one.resource}: ${spaced(one.status)}`}
      id="cycle"
      acts={
        one.status === "failed" ? (
          <span className="buttons">
            {acts.map((act) => (
              <ActButton key={act.label} act={act} />
            ))}
          </span>
        ) : undefined
      }
    >
      {one.status === "failed" && <Refusals acts={acts} />}
      {one.reason && <p><Brief text={one.reason} /></p>}
      <Ordered group={one} />
    </Section>
  );
}

/** With the order of its bracket, and how long its jobs took. */
function Ordered({ group }: { group: Group }): ReactNode {
  const { id, environment, resource, policy, members } = group;
  const cel = `job.group == ${JSON.stringify(id)}`;
  const jobs = useJobs(`jobs of ${id}`, () => all<Job>("jobs", { environment, resource, cel }, 200), ({ data }) => data["group"] === id);
  const brackets = useLive("brackets", () => all<Bracket>("brackets"), ofKinds("Policy", "Deployment"));
  const names = new Set(members.map((member) => member.deployment));
  const bracket = brackets.data?.find((one) => one.policy === policy && one.members.some((member) => names.has(member.deployment)));
  return <Cycle group={group} bracket={bracket} jobs={jobs.items ?? []} />;
}

const SHOWN_JOBS = 10;

/** Releases, newest first: the jobs of each version that came here. */
function History({ jobs, error }: { jobs: Job[] | undefined; error: Error | undefined }): ReactNode {
  const { query } = usePlace();
  const [isWhole, setWhole] = useState(false);
  const opened = query.get("job");
  if (jobs === undefined) return <Trouble error={error} />;
  const shown = isWhole ? jobs : jobs.slice(0, SHOWN_JOBS);
  return (
    <Section title="History" id="jobs">
      {jobs.length === 0 && <p className="soft">No job has run here yet.</p>}
      <ol className="history">
        {shown.map((job, index) => (
          <li key={job.id} className={shown[index - 1]?.version === job.version ? undefined : "release"}>
            <div className="row">
              <b className="release-name">{shown[index - 1]?.version === job.version ? "" : job.version}</b>
              <Mark tone={jobTone(job.status)} sign={jobSign(job.status)} word={spaced(job.status)} />
              <span className="grow">
                {job.kind !== "deploy" && <span className="badge">{job.kind}</span>} {job.attempt > 1 && <span className="badge">attempt {job.attempt}</span>}{" "}
                {job.message && <Brief text={job.message} />}
                {job.reason && (
                  <span className="soft">
                    {" "}
                    because <Brief text={job.reason} />
                  </span>
                )}
                {Object.entries(job.links).map(([label, href]) =>
                  /^https?:/.test(href) ? (
                    <a key={label} href={href} rel="noreferrer noopener" target="_blank">
                      {" "}
                      {label}
                    </a>
                  ) : null,
                )}
              </span>
              <span className="soft">{job.agent}</span>
              <Time at={job.startedAt ?? job.createdAt} />
              <button type="button" aria-expanded={opened === job.id} onClick={() => go(withQuery({ job: opened === job.id ? null : job.id }), true)}>
                {opened === job.id ? "Close the log" : "Log"}
              </button>
            </div>
            {opened === job.id && <Log job={job.id} />}
          </li>
        ))}
      </ol>
      {jobs.length > SHOWN_JOBS && !isWhole && (
        <button type="button" onClick={() => setWhole(true)}>
          Show {jobs.length - SHOWN_JOBS} older
        </button>
      )}
    </Section>
  );
}

const SOURCES: Record<TargetVariable["source"], string> = {
  resource: "the resource",
  deploymentValue: "a value of the deployment",
  variableSet: "the variable set",
  default: "the default of",
};

function Variables({ name }: { name: string }): ReactNode {
  const found = useLive(
    `variables ${name}`,
    () => get<{ items: TargetVariable[] }>(`release-targets/${name}/variables`),
    ofKinds("Resource", "Deployment", "VariableSet", "Environment"),
  );
  return (
    <Section title="Variables" id="variables">
      <Trouble error={found.error} />
      {found.data?.items.length === 0 && <p className="soft">None concerns this target.</p>}
      {found.data !== undefined && found.data.items.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label="Table of variables">
          <table>
            <thead>
              <tr>
                <th>Key</th>
                <th>Value</th>
                <th className="grow">From</th>
              </tr>
            </thead>
            <tbody>
              {found.data.items.map((one) => (
                <tr key={one.key}>
                  <td><Written text={one.key} /></td>
                  <td>
                    <code>{JSON.stringify(one.value)}</code>
                  </td>
                  <td>
                    {SOURCES[one.source]} <Written text={one.name} /> {one.selector && <code>{one.selector}</code>}
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
