// What is moving, what needs a person, and the button that stops it.
import { type ReactNode, useRef } from "react";
import { ActButton } from "../acts/act";
import { freeze, onGroup, order, orderMany, unfreeze } from "../acts/fleet";
import { Refusals } from "../acts/obstacles";
import { VoteButtons } from "../acts/votes";
import { all, get, place } from "../api/client";
import type { AwaitedApproval, DeploymentExplanation, EnvironmentStatus, Freeze, Group, Job, Page, ReasonGroup, Status } from "../api/types";
import { changesNeed, heldBack, isOffered, mayNeedSomebody, placeFailed, stuck } from "../live/needed";
import { useLive } from "../live/queries";
import { placeByName, useJobs, useObjects, useStore } from "../live/tables";
import { Link, to } from "../router";
import { partsOf } from "../time/moments";
import { Expected, useExpected } from "../ui/expected";
import { Bar, Empty, Loading, PhaseMark, Section, Sentence, Time, Trouble, useNow } from "../ui/parts";
import { Brief, Written } from "../ui/text";
import { isDone, parts, type Phase, PHASES, plural } from "../words";
import { BudgetRows } from "./limits";

interface Line {
  deployment: string;
  environment: EnvironmentStatus;
}

export function Now(): ReactNode {
  const store = useStore();
  const status = store.status;
  const freezes = useObjects<Freeze>("freezes", "Freeze", () => all<Freeze>("freezes"), placeByName);
  const lines = linesOf(status);
  const moving = lines.filter((line) => !isDone(line.environment.counts)).sort((a, b) => urgency(b) - urgency(a));
  const needs = useNeeds(moving);
  const silent = useSilentAgents();
  return (
    <>
      <div className="head">
        <h1>Now</h1>
        <ActButton act={freeze()} />
      </div>
      {status !== undefined && lines.length > 0 && <Glance lines={lines} needs={needs} freezes={freezes.items?.length ?? 0} silent={silent.size} />}
      {status?.warnings.map((warning) => (
        <p key={warning} className="trouble">
          {warning}
        </p>
      ))}
      <div className="aside">
        <div className="stack">
          <Freezes freezes={freezes.items ?? []} />
          <Needed needs={needs} silent={silent.size} />
          <SilentAgents silent={silent} />
        </div>
        <div className="stack">
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
          <BudgetRows tables={store.tables} />
        </div>
      </div>
    </>
  );
}

/** What has failed comes first, then what waits; what only runs can be left alone. */
function urgency({ environment: { counts } }: Line): number {
  return counts.failed + counts.rolledBack + counts.rollingBack > 0 ? 2 : counts.waiting + counts.frozen > 0 ? 1 : 0;
}

/** What only a person ends, each counted once. */
interface Needs {
  cycles: Group[];
  /** Targets that wait for these cycles alone. */
  heldBack: number;
  stuck: { deployment: string; reason: ReasonGroup }[];
  votes: (AwaitedApproval & { deployment: string })[];
  /** Everybody was asked, and has answered: whoever is not named here is not waited for. */
  isKnown: boolean;
  error: Error | undefined;
}

const MOST_ASKED = 100;

function useNeeds(lines: Line[]): Needs {
  const { tables, status } = useStore();
  const failed = useObjects<Group>("failed", "Group", async () => (await get<Page<Group>>("groups", { status: "failed", limit: 200 })).items, placeFailed);
  const names = [...new Set(lines.filter((line) => mayNeedSomebody(line.environment.counts)).map((line) => line.deployment))].sort().slice(0, MOST_ASKED);
  const asked = useLive(
    `needed ${names.join("/")}`,
    async () => {
      const answers = await Promise.allSettled(names.map((name) => get<DeploymentExplanation>(`deployments/${place(name)}/explain`)));
      const refusal = answers.find((one) => one.status === "rejected")?.reason as Error | undefined;
      return { found: answers.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])), refusal };
    },
    changesNeed,
  );
  // Those of before stay until the others are there: a list that is empty in between would say that nobody is waited for.
  const last = useRef<DeploymentExplanation[]>([]);
  if (asked.data !== undefined) last.current = asked.data.found;
  const known = last.current.filter((one) => names.includes(one.deployment));
  const cycles = failed.items ?? [];
  return {
    isKnown: status !== undefined && failed.items !== undefined && asked.data !== undefined && asked.data.refusal === undefined,
    error: failed.error ?? asked.error ?? asked.data?.refusal,
    cycles,
    heldBack: known.reduce((sum, one) => sum + heldBack(one.reasons, cycles), 0),
    stuck: known.flatMap((one) => stuck(one, cycles, tables.targets).map((reason) => ({ deployment: one.deployment, reason }))),
    votes: known.flatMap((one) => one.approvals.map((vote_) => ({ ...vote_, deployment: one.deployment }))),
  };
}

interface Figure {
  tone: Phase["tone"];
  sign: string;
  count: number;
  word: string;
  href: string;
}

/** The day in one line: how bad it is, and how much of what; each figure leads to what it counts. */
function Glance({ lines, needs, freezes, silent }: { lines: Line[]; needs: Needs; freezes: number; silent: number }): ReactNode {
  const sum = (of: (counts: EnvironmentStatus["counts"]) => number): number => lines.reduce((all_, line) => all_ + of(line.environment.counts), 0);
  const failing = needs.stuck.filter(({ reason }) => reason.state !== "waiting").reduce((all_, { reason }) => all_ + reason.count, 0);
  const waiting = needs.stuck.filter(({ reason }) => reason.state === "waiting").reduce((all_, { reason }) => all_ + reason.count, 0);
  const figures: Figure[] = [
    { tone: "bad", sign: "✕", count: needs.cycles.length, word: `${needs.cycles.length === 1 ? "cycle" : "cycles"} failed`, href: "#needed" },
    { tone: "bad", sign: "✕", count: failing, word: `${failing === 1 ? "target" : "targets"} failed or rolled back`, href: "#needed" },
    { tone: "bad", sign: "✕", count: silent, word: `${silent === 1 ? "agent does" : "agents do"} not answer`, href: "#agents" },
    { tone: "wait", sign: "!", count: waiting, word: `${waiting === 1 ? "target waits" : "targets wait"} for somebody`, href: "#needed" },
    { tone: "wait", sign: "○", count: needs.votes.length, word: `${needs.votes.length === 1 ? "vote is" : "votes are"} asked for`, href: "#needed" },
    { tone: "wait", sign: "○", count: needs.heldBack, word: "held back by failed cycles", href: "#needed" },
    { tone: "quiet", sign: "‖", count: freezes, word: freezes === 1 ? "freeze in force" : "freezes in force", href: "#freezes" },
    { tone: "busy", sign: "▶", count: sum((counts) => counts.running + counts.verifying), word: "running", href: "#motion" },
    { tone: "good", sign: "✓", count: sum((counts) => counts.upToDate), word: "up to date", href: "#motion" },
  ];
  const shown = figures.filter((one) => one.count > 0);
  const worst = (["bad", "wait"] as const).find((tone) => shown.some((one) => one.tone === tone)) ?? "good";
  const says = { bad: failing + needs.cycles.length > 0 ? "✕ Something has failed" : "✕ Somebody does not answer", wait: "! Somebody is waited for", good: needs.isKnown ? "✓ Nothing needs a person" : "Looking for who is waited for …" }[worst];
  return (
    <section className={`glance ${worst}`} aria-label="At a glance">
      <strong>{says}</strong>
      <ul>
        {shown.map((one) => (
          <li key={one.word}>
            <a className={`figure ${one.tone}`} href={one.href}>
              <span aria-hidden="true">{one.sign}</span> <b>{one.count.toLocaleString()}</b> {one.word}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const LONG_MS = 60_000;
const MOST_NAMED = 3;

/** Jobs that were handed out and that nobody has begun, by who should have. */
function useSilentAgents(): Map<string, Job[]> {
  const jobs = useJobs("handed out", () => all<Job>("jobs", { status: "pending" }, 2_000), () => true);
  const now = useNow();
  const late = (jobs.items ?? []).filter((job) => job.status === "pending" && now - Date.parse(job.createdAt) > LONG_MS);
  return Map.groupBy(late, (job) => job.agent ?? "no agent");
}

function SilentAgents({ silent }: { silent: Map<string, Job[]> }): ReactNode {
  if (silent.size === 0) return null;
  return (
    <Section title={<Counted title="Agents that do not answer" count={silent.size} tone="bad" />} id="agents">
      <ul className="plain">
        {[...silent].map(([agent, of]) => (
          <li key={agent} className="row">
            <span className="mark bad">✕ <Written text={agent} /></span>
            <span className="grow">
              has not begun {plural(of.length, "job")}, the first of them handed out <Time at={of.map((job) => job.createdAt).sort()[0]} />:{" "}
              <Written text={of.slice(0, 3).map((job) => `${job.deployment} on ${job.resource}`).join(", ")} />
              {of[0]?.message && <small className="soft"> <Brief text={of[0].message} /></small>}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** A heading with how many there are. */
function Counted({ title, count, tone }: { title: string; count: number; tone: Phase["tone"] }): ReactNode {
  return (
    <>
      {title} {count > 0 && <span className={`count ${tone}`}>{count.toLocaleString()}</span>}
    </>
  );
}

function linesOf(status: Status | undefined): Line[] {
  return (status?.deployments ?? []).flatMap((one) =>
    one.environments.map((environment) => ({ deployment: one.name, environment })),
  );
}

function Rollouts({ lines }: { lines: Line[] }): ReactNode {
  const expected = useExpected();
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
              <td><Written text={environment.name} /></td>
              <td>
                <Progress environment={environment} />
              </td>
              <td>
                <Expected finish={expected(deployment, environment)} counts={environment.counts} />
              </td>
              <td className="wide soft">
                <Brief text={environment.waiting[0]?.message ?? ""} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Progress({ environment }: { environment: EnvironmentStatus }): ReactNode {
  const bar = parts(environment.counts).filter((part) => part.count > 0);
  return (
    <>
      <Bar parts={bar} />
      <small className="soft">
        {bar.map((part, index) => (
          <span key={part.word}>
            {index > 0 && " · "}
            {part.tone === "bad" ? (
              <b className="sign bad">
                ✕ {part.count} {part.word}
              </b>
            ) : (
              `${part.count} ${part.word}`
            )}
          </span>
        ))}
      </small>
    </>
  );
}

function Freezes({ freezes }: { freezes: Freeze[] }): ReactNode {
  return freezes.map((one, index) => (
    <div key={one.id} id={index === 0 ? "freezes" : undefined} className="notice" role="status">
      <span>
        <span className="mark quiet">‖ frozen</span> <b><Written text={one.name} /></b>: <Brief text={one.reason} most={400} />{" "}
        <span className="soft">
          set by <Written text={one.user} />,{" "}
        </span>
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

/** Cycles that failed, what is stuck, votes that are asked for: the worst first. */
function Needed({ needs, silent }: { needs: Needs; silent: number }): ReactNode {
  const { cycles, stuck: held, votes } = needs;
  const isBad = cycles.length > 0 || held.some(({ reason }) => reason.state !== "waiting");
  return (
    <Section title={<Counted title="Needs a person" count={cycles.length + held.length + votes.length} tone={isBad ? "bad" : "wait"} />} id="needed">
      <ul className="plain needs">
        {cycles.map((group) => (
          <FailedCycle key={group.id} group={group} />
        ))}
        {needs.heldBack > 0 && (
          <li className="row soft">
            <span className="mark quiet">○ held back</span> {plural(needs.heldBack, "target")} {needs.heldBack === 1 ? "waits" : "wait"} until {cycles.length === 1 ? "this cycle goes" : "these cycles go"} on.
          </li>
        )}
        {held
          .toSorted((a, b) => Number(a.reason.state === "waiting") - Number(b.reason.state === "waiting"))
          .map(({ deployment, reason }) => (
            <Stuck key={`${deployment} ${reason.environment} ${reason.state} ${reason.message}`} deployment={deployment} reason={reason} />
          ))}
        {votes.map((one) => (
          <li key={`${one.deployment} ${one.environment} ${one.version} ${one.policy} ${one.rule}`} className="row">
            <span className="mark wait">○ approval</span>
            <span className="grow">
              <Link href={to("rollouts", one.deployment, one.version)}>{one.deployment}</Link>: <Sentence text={one.message} />
            </span>
            <VoteButtons deployment={one.deployment} version={one.version} environment={one.environment} />
          </li>
        ))}
      </ul>
      <Trouble error={needs.error} />
      {cycles.length + held.length + votes.length === 0 && <p className="soft">{nobody(needs.isKnown, silent)}</p>}
    </Section>
  );
}

/** Where nobody is named: that is a good thing only if it is known. */
export function nobody(isKnown: boolean, silent: number): string {
  if (!isKnown) return "It is not known yet who is waited for.";
  return silent === 0 ? "Nobody is waited for." : "Nobody is waited for but the agents that do not answer.";
}

function FailedCycle({ group }: { group: Group }): ReactNode {
  const failed = group.members.find((member) => member.state === "failed") ?? group.members[0];
  const where = `${group.environment}/${group.resource}`;
  const acts = [onGroup("retry", group), onGroup("release", group)] as const;
  return (
    <li className="row bad">
      <span className="mark bad">✕ cycle failed</span>
      <span className="grow">
        {group.policy} on {failed === undefined ? where : <Link href={to("targets", failed.deployment, group.environment, group.resource)}>{where}</Link>}:{" "}
        <Brief text={group.reason} />
        <Refusals acts={acts} />
      </span>
      <ActButton act={acts[0]} />
      <ActButton act={acts[1]} />
    </li>
  );
}

function Stuck({ deployment, reason }: { deployment: string; reason: ReasonGroup }): ReactNode {
  const shown = reason.targets.slice(0, MOST_NAMED).map(partsOf);
  const one = reason.count === 1 ? shown[0] : undefined;
  return (
    <li className={`row ${PHASES[reason.state].tone}`}>
      <PhaseMark state={reason.state} />
      <span className="grow">
        {deployment} on{" "}
        {shown.map(({ environment, resource }, index) => (
          <span key={resource}>
            {index > 0 && ", "}
            <Link href={to("targets", deployment, environment, resource)}>{resource}</Link>
          </span>
        ))}
        {reason.count > shown.length && ` and ${reason.count - shown.length} more`} in <Written text={reason.environment} />: <Brief text={reason.message} />
      </span>
      {reason.state === "failed" && isOffered(reason, "headgate retry ") && <ActButton act={one ? order("retry", one) : orderMany("retry", deployment, reason.environment)} />}
    </li>
  );
}
