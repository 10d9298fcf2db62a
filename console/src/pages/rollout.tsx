// One version on its way: where it is, was and will be, what it waits for, and the way back.
import { type ReactNode, useMemo } from "react";
import { ActButton } from "../acts/act";
import { HeldActs } from "../acts/obstacles";
import { freeze, orderMany, rejectVersion } from "../acts/fleet";
import { VoteButtons } from "../acts/votes";
import { all, get, place, serverNow } from "../api/client";
import type { Approval, Bracket, DeploymentExplanation, EnvironmentStatus, Job, ListedTarget, LiveEvent, ReasonGroup, SeenBudget, Version } from "../api/types";
import { ofKinds, useLive } from "../live/queries";
import type { Tables } from "../live/store";
import { useJobs, useObjects, useStatus, useVotes } from "../live/tables";
import { Link } from "../router";
import { heldBy, TimeBar } from "../time/bar";
import { partsOf, type PlannedJob, placeOf, plannedJobs, scoped, usesOf, wavesAfter } from "../time/moments";
import { type TimeLine, useTimeLine } from "../time/use";
import { BracketGraph } from "../ui/bracket";
import { ExpectedDone, useExpected } from "../ui/expected";
import { Gantt } from "../ui/gantt";
import { Bar, Loading, Mark, PhaseMark, Section, Sentence, Time, Trouble } from "../ui/parts";
import { Brief, Written } from "../ui/text";
import { Usage } from "../ui/usage";
import { countStates, isUnderWay, parts, plural } from "../words";
import { Reasons } from "./fleet";
import { Slots } from "./limits";

const LONGEST_BACK = 7 * 86_400_000;

export function Rollout({ deployment, tag }: { deployment: string; tag: string }): ReactNode {
  const name = `${deployment}/${tag}`;
  const version = useObjects<Version>(
    `version ${name}`,
    "Version",
    async () => [await get<Version>(`deployments/${place(deployment)}/versions/${place(tag)}`)],
    (items, told, object) => (told === name && object !== null ? [object as Version] : items),
  );
  const found = version.items?.[0];
  if (found === undefined) return version.error ? <Trouble error={version.error} /> : <Loading what="the version" />;
  return <Found deployment={deployment} version={found} />;
}

function Found({ deployment, version }: { deployment: string; version: Version }): ReactNode {
  const { tag } = version;
  const published = Date.parse(version.publishedAt ?? version.createdAt);
  const since = useMemo(() => Math.max(published, serverNow() - LONGEST_BACK), [published]);
  const time = useTimeLine(since);
  const votes = useVotes(deployment, tag);
  const jobs = useJobs(
    `jobs ${deployment} ${tag}`,
    () => all<Job>("jobs", { deployment, cel: `job.version == ${JSON.stringify(tag)}` }),
    (event) => event.data["deployment"] === deployment && event.data["version"] === tag,
  );
  const why = useLive(`why ${deployment} ${tag}`, () => get<DeploymentExplanation>(`deployments/${place(deployment)}/explain`, { version: tag }));
  const tables = useScoped(version, time.tables);
  const status = useStatus()?.deployments.find((one) => one.name === deployment);
  const brackets = useLive("brackets", () => all<Bracket>("brackets"), ofKinds("Policy", "Deployment"));
  const bracket = brackets.data?.find((one) => one.members.some((member) => member.deployment === deployment));
  const planned = useMemo(() => {
    const begun = new Set(jobs.items?.map((job) => `${job.deployment}/${job.environment}/${job.resource}`));
    const mine = plannedJobs(time.future?.changes ?? []).filter((job) => partsOf(job.target).deployment === deployment && job.version === tag);
    return mine.filter((job) => !begun.has(job.target));
  }, [time.future, jobs.items, deployment, tag]);
  const recorded = useMemo(
    () => plannedJobs(time.past).filter((job) => partsOf(job.target).deployment === deployment && job.version === tag),
    [time.past, deployment, tag],
  );
  const cel = `deployment.name == ${JSON.stringify(deployment)}`;
  const isNow = time.mode === "now";
  return (
    <HeldActs why={heldBy(time)}>
      <div className="head">
        <h1>
          <Written text={deployment} /> <b><Written text={tag} /></b>
          {version.targetSelector !== null && <span className="badge">scoped</span>}
        </h1>
        <span className="buttons">
          <ActButton act={freeze({ label: deployment, cel })} />
          <ActButton act={rejectVersion(deployment, tag)} />
        </span>
      </div>
      <Header version={version} votes={votes.items ?? []} />
      <TimeBar time={time} />
      <div className="aside">
        <div className="stack">
          {tables === undefined ? <Loading what="its targets" /> : <Environments deployment={deployment} tag={tag} tables={tables} mode={time.mode} told={status?.environments ?? []} />}
          {bracket && tables && (
            <Section title={`Cycle of each resource: ${bracket.policy}`} id="bracket">
              <BracketGraph bracket={bracket} tables={tables} current={deployment} />
            </Section>
          )}
          {isNow ? <Waiting deployment={deployment} reasons={why.data?.reasons ?? []} /> : tables && <Reasons tables={tables} deployment={deployment} />}
        </div>
        <div className="stack">
          <Limits time={time} policies={new Set([...(why.data?.reasons.map((reason) => reason.policy) ?? []), bracket?.policy ?? null])} />
          <Waves jobs={time.mode === "past" ? [...recorded, ...planned] : planned} time={time} />
        </div>
      </div>
      <Section title="Jobs over time" id="gantt">
        <Gantt jobs={jobs.items ?? []} planned={planned} at={time.at === null ? null : Date.parse(time.at)} />
      </Section>
    </HeldActs>
  );
}

/** Who published it is in the events, as long as they are kept. */
function usePublisher(name: string): string | undefined {
  const cel = `event.type == "version.published" && event.name == ${JSON.stringify(name)}`;
  const found = useLive(`publisher ${name}`, () => get<{ items: LiveEvent[] }>("events", { cel, sort: "-seq", limit: 1 }), () => false);
  const user = found.data?.items[0]?.data["user"];
  return typeof user === "string" && user !== "" ? user : undefined;
}

function Header({ version, votes }: { version: Version; votes: Approval[] }): ReactNode {
  const publisher = usePublisher(`${version.deployment}/${version.tag}`);
  return (
    <section className="card answer">
      <p>
        published <Time at={version.publishedAt ?? version.createdAt} />
        {publisher && <> by <Written text={publisher} /></>}
        {version.status !== "ready" && (
          <>
            {" "}
            <Mark tone={version.status === "rejected" || version.status === "failed" ? "bad" : "wait"} sign="●" word={version.status} />
          </>
        )}
        {version.targetSelector !== null && (
          <>
            {" "}
            only for <code>{version.targetSelector}</code>
          </>
        )}
      </p>
      {version.message && <p><Written text={version.message} /></p>}
      <dl>
        {Object.entries(version.metadata).map(([key, value]) => (
          <div key={key}>
            <dt><Written text={key} /></dt>
            <dd>
              {/^https?:\/\//.test(value) ? (
                <a href={value} rel="noreferrer noopener" target="_blank">
                  {value}
                </a>
              ) : (
                <Written text={value} />
              )}
            </dd>
          </div>
        ))}
      </dl>
      {votes.map((one) => (
        <p key={one.user + one.environment}>
          <Mark tone={one.status === "approved" ? "good" : "bad"} sign={one.status === "approved" ? "✓" : "✕"} word={one.status} /> by <Written text={one.user} /> for{" "}
          <Written text={one.environment} />, <Time at={one.at} />
          {one.reason && <>: <Written text={one.reason} /></>}
        </p>
      ))}
    </section>
  );
}

function Environments(properties: { deployment: string; tag: string; tables: Tables; mode: TimeLine["mode"]; told: EnvironmentStatus[] }): ReactNode {
  const { deployment, tag, tables, mode, told } = properties;
  const expected = useExpected();
  const by = new Map<string, { state: keyof ReturnType<typeof countStates> }[]>();
  for (const target of tables.targets.values()) {
    const of = partsOf(target.name);
    if (of.deployment !== deployment) continue;
    const known = by.get(of.environment);
    if (known === undefined) by.set(of.environment, [target]);
    else known.push(target);
  }
  return (
    <Section title="Environments" id="environments">
      {by.size === 0 && mode !== "now" && <p className="soft">Nothing is known of that moment.</p>}
      {[...by].map(([environment, targets]) => {
        const counts = countStates(targets);
        const bar = parts(counts);
        const status = mode === "now" ? told.find((one) => one.name === environment) : undefined;
        return (
          <div key={environment} className="row">
            <b><Written text={environment} /></b>
            <span className="grow">
              <Bar parts={bar} />
              <small className="soft">
                {bar.filter((part) => part.count > 0).map((part) => `${part.count} ${part.word}`).join(" · ")}
              </small>{" "}
              {status && <ExpectedDone finish={expected(deployment, status)} counts={status.counts} />}
            </span>
            <span className="buttons">
              {counts.failed > 0 && <ActButton act={orderMany("retry", deployment, environment)} />}
              <ActButton act={orderMany("rollback", deployment, environment, tag)} />
            </span>
          </div>
        );
      })}
    </Section>
  );
}

/** Each limit at that moment, and how full it was and will be. */
function Limits({ time, policies }: { time: TimeLine; policies: Set<string | null> }): ReactNode {
  const budgets = [...time.tables.budgets.values()].filter((budget) => policies.has(budget.policy));
  if (budgets.length === 0) return null;
  const at = time.at === null ? time.span.now : Date.parse(time.at);
  return (
    <Section title="Limits over time" id="limits">
      {budgets.map((budget) => (
        <Limit key={budget.name} budget={budget} time={time} at={at} />
      ))}
    </Section>
  );
}

function Limit({ budget, time, at }: { budget: SeenBudget; time: TimeLine; at: number }): ReactNode {
  const { past, future, span } = time;
  const was = useMemo(() => usesOf(past, budget.name), [past, budget.name]);
  const will = useMemo(() => usesOf(future?.changes ?? [], budget.name), [future, budget.name]);
  const points = [...was, ...will.filter((point) => point.at > span.now)];
  const most = points.reduce((highest, point) => Math.max(highest, point.used), 0);
  return (
    <div className="limit">
      <div className="row">
        <Slots used={budget.used} limit={budget.limit} />
        <b className="figures">
          {budget.used} of {budget.limit}
        </b>
        <span className="grow">
          <Written text={budget.rule} /> <span className="soft">(<Written text={`${budget.policy}${budget.scope ? `, ${budget.scope}` : ""}`} />)</span>
        </span>
        {budget.stoppedAt !== null && <Mark tone="bad" sign="✕" word="the line is stopped" />}
      </div>
      <Usage points={points} span={span} at={at} label={`${budget.rule}: ${budget.used} of ${budget.limit} used; at most ${most} in this time`} />
    </div>
  );
}

/** What can be seen of the resources that the version is for; undefined until they are known. */
function useScoped(version: Version, tables: Tables): Tables | undefined {
  const { deployment, tag, targetSelector } = version;
  const found = useLive(
    `scope ${deployment} ${tag} ${targetSelector}`,
    async () => (targetSelector === null ? null : new Set((await all<ListedTarget>("release-targets", { deployment, version: tag })).map((one) => placeOf(one)))),
    ofKinds("Version", "Resource", "Environment", "Deployment"),
  );
  if (targetSelector === null) return tables;
  const places = found.data;
  return places ? scoped(tables, places) : undefined;
}

/** Who comes after the moment that is shown: what a plan says, and of a past moment what was recorded since. */
function Waves({ jobs, time }: { jobs: PlannedJob[]; time: TimeLine }): ReactNode {
  // What should have begun by then is no longer to come; a plan that is made anew says when it does.
  const waves = wavesAfter(jobs, time.at === null ? time.span.now : Date.parse(time.at));
  const ahead = waves.map(({ from, resources }) => [new Date(from).toISOString(), resources] as const);
  if (ahead.length === 0) return null;
  return (
    <Section title={time.mode === "past" ? "Waves from there on" : "Waves to come, if nothing else changes"} id="waves">
      <ol className="waves">
        {ahead.slice(0, 12).map(([at, resources]) => (
          <li key={at}>
            <Time at={at} /> <b>{resources.slice(0, 5).join(", ")}</b>
            {resources.length > 5 && <span className="soft"> and {resources.length - 5} more</span>}
          </li>
        ))}
      </ol>
      {ahead.length > 12 && <p className="soft">{plural(ahead.length - 12, "more wave")} after these.</p>}
    </Section>
  );
}

/** Who waits, grouped by what for: ten thousand that wait for one thing are one line. */
function Waiting({ deployment, reasons }: { deployment: string; reasons: ReasonGroup[] }): ReactNode {
  const waiting = reasons.filter((reason) => reason.state !== "upToDate" && !isUnderWay(reason.state));
  if (waiting.length === 0) return null;
  return (
    <Section title="Waiting, by reason" id="waiting">
      <ul className="plain">
        {waiting.map((reason) => (
          <li key={reason.environment + reason.message} className="row">
            <PhaseMark state={reason.state} />
            <b className="figures">{plural(reason.count, "target")}</b>
            <span className="grow">
              <Brief text={reason.message} />
              {reason.changes && <small className="soft"> Changes <Sentence text={reason.changes} />.</small>}
              <small className="links">
                {reason.targets.slice(0, 6).map((name) => (
                  <Link key={name} href={`/targets/${name.split("/").map(encodeURIComponent).join("/")}`}>
                    {name.split("/").slice(1).join("/")}
                  </Link>
                ))}
                {reason.count > 6 && <span> and {reason.count - 6} more</span>}
              </small>
            </span>
            {reason.type === "approval" && reason.version !== null && <VoteButtons deployment={deployment} version={reason.version} environment={reason.environment} />}
          </li>
        ))}
      </ul>
    </Section>
  );
}
