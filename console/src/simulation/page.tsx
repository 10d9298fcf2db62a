// The page of a simulation: how it ended, who was changed when, how full each limit was, and what was said.
import { type ReactNode, useMemo, useState } from "react";
import type { ChartRow, Size } from "../chart/paint";
import { TimeChart } from "../chart/timechart";
import type { Window } from "../chart/window";
import { cssOf, hue } from "../ui/colours";
import { Flow } from "../ui/flow";
import { Mark, Section } from "../ui/parts";
import { Usage } from "../ui/usage";
import { length, spaced } from "../words";
import { objectRows, podRows, revisionsOf } from "./clusters";
import { clockOf, type Said, type Simulation, type SimulatedGraph, stamp, wholeOf } from "./data";
import { isBad, jobRows } from "./jobs";

const MANY = 100;
const SHOWN = 100;
const MOST_LISTED = 500;
const MOST_GRAPHS = 10;

/** What all charts of the page share: they look at the same part of the time. */
interface Looking {
  data: Simulation;
  whole: Window;
  window: Window | null;
  onWindow: (window: Window | null) => void;
  clock: (at: number | null) => string;
}

export function SimulationPage({ data }: { data: Simulation }): ReactNode {
  const [window, onWindow] = useState<Window | null>(() => firstWindow(data));
  const whole = useMemo(() => wholeOf(data), [data]);
  const clock = useMemo(() => clockOf(data.start), [data]);
  const looking = { data, whole, window, onWindow, clock };
  const isFleet = data.jobs.length > 0 || data.workloads.length + data.graphs.length === 0;
  return (
    <main>
      <div className="head">
        <h1>{data.scenario}</h1>
        <Verdict data={data} />
      </div>
      <section className="card">
        <Facts data={data} isFleet={isFleet} />
      </section>
      {data.violations.slice(0, 20).map(([at, promise, message], index) => (
        <p key={index} className="trouble">
          {promise} at {clock(at)}: {message}
        </p>
      ))}
      {data.workloads.length > 0 && <Workloads {...looking} />}
      {data.graphs.length > 0 && <Graphs {...looking} />}
      {isFleet && <Jobs {...looking} />}
      {data.budgets.length > 0 && <Budgets {...looking} />}
      {data.groups.length > 0 && <Groups {...looking} />}
      <Lists data={data} clock={clock} />
    </main>
  );
}

/** A run may go on for days after its last job: what moves is looked at first. */
function firstWindow(data: Simulation): Window | null {
  if (data.jobs.length === 0) return null;
  const from = data.jobs.reduce((least, job) => Math.min(least, job[4]), Infinity);
  const till = data.jobs.reduce((most, job) => Math.max(most, job[5] ?? data.end), 0);
  const margin = Math.max((till - from) * 0.02, 20_000);
  return (till - from) * 2 > data.end - data.start ? null : { from: from - margin, till: till + margin };
}

function Verdict({ data }: { data: Simulation }): ReactNode {
  if (data.violations.length > 0) return <Mark tone="bad" sign="✕" word="promise broken" />;
  if (data.converged) return <Mark tone="good" sign="✓" word="converged" />;
  return <Mark tone="wait" sign="○" word={data.wasCut ? "stopped before it converged" : "not converged"} />;
}

function Facts({ data, isFleet }: { data: Simulation; isFleet: boolean }): ReactNode {
  const failures = data.jobs.filter(isBad).length;
  const sum = (counts: number[]): string => counts.reduce((all, count) => all + count, 0).toLocaleString("en");
  const facts: [string, string, boolean?][] = [
    ["Start", stamp(data.start)],
    ["End", `${stamp(data.end)} (${length(Math.round((data.end - data.start) / 1000))})`],
  ];
  if (isFleet) {
    facts.push(["Jobs", data.jobs.length.toLocaleString("en")], ["Failures", String(failures), failures > 0]);
    facts.push(["Resources", data.resources.length.toLocaleString("en")], ["Groups", data.groups.length.toLocaleString("en")]);
  }
  if (data.graphs.length > 0) facts.push(["Instances", String(data.graphs.length)], ["Objects", sum(data.graphs.map((one) => one.rows.length))]);
  if (data.workloads.length > 0) facts.push(["Pods", sum(data.workloads.map((one) => one.pods.length))], ["Places", sum(data.workloads.map((one) => one.rows.length))]);
  facts.push(["Violations", String(data.violations.length), data.violations.length > 0], ["Seed", String(data.seed)]);
  return (
    <dl id="facts">
      {facts.map(([name, value, bad]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className={bad ? "denied" : undefined}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Choice({ label, value, options, onChange }: { label: string; value: string; options: string[]; onChange: (value: string) => void }): ReactNode {
  return (
    <label className="choice">
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {option || "all"}
          </option>
        ))}
      </select>
    </label>
  );
}

function Jobs({ data, whole, window, onWindow, clock }: Looking): ReactNode {
  const [filter, setFilter] = useState("");
  const [colour, setColour] = useState("deployment");
  const [order, setOrder] = useState(data.resources.length > MANY ? "first start" : "name");
  const [size, setSize] = useState<Size>(data.resources.length > MANY ? "fit" : "normal");
  const rows = useMemo(() => jobRows(data, clock, { filter, colour, order }), [data, clock, filter, colour, order]);
  return (
    <Section title="Jobs by resource" id="jobs">
      <div className="filters">
        <input type="search" aria-label="Filter by resource, deployment, version or status" placeholder="resource, deployment, version, status" value={filter} onChange={(event) => setFilter(event.target.value)} />
        <Choice label="Colour" value={colour} options={["deployment", "outcome"]} onChange={setColour} />
        <Choice label="Order" value={order} options={["name", "first start"]} onChange={setOrder} />
        <Choice label="Rows" value={size} options={["normal", "small", "fit"]} onChange={(value) => setSize(value as Size)} />
      </div>
      <Colours items={jobColours(data, colour)} />
      {rows.length === 0 ? (
        <p className="soft">{data.jobs.length > 0 ? "Nothing matches the filter." : "No job ran."}</p>
      ) : (
        <TimeChart label={`${data.jobs.length} jobs on ${rows.length} resources`} rows={rows} whole={whole} window={window} onWindow={onWindow} clock={clock} size={size} marks={data.steps.map(([at]) => at)} />
      )}
    </Section>
  );
}

const MOST_COLOURS = 24;

function jobColours(data: Simulation, colour: string): [string, string][] {
  const cycles: [string, string][] = data.groups.length === 0 ? [] : [["quiet", "cycle collects"], ["wait-bar", "cycle waits"], ["busy", "cycle runs"]];
  if (colour === "outcome") return [["good", "successful"], ["bad", "failed"], ["busy", "still running"], ["quiet", "cancelled or skipped"], ...cycles];
  const deployments = data.deployments.slice(0, MOST_COLOURS).map((name, index): [string, string] => [hue(index), name]);
  return [...deployments, ...(data.jobs.some(isBad) ? [["bad", "failed"] as [string, string]] : []), ...cycles];
}

function Colours({ items }: { items: [string, string][] }): ReactNode {
  return (
    <div className="colours">
      {items.map(([paint, text]) => (
        <span key={text}>
          <i style={{ background: cssOf(paint) }} /> {text}
        </span>
      ))}
    </div>
  );
}

/** Steps that stay as they are until they change, in the part of the time that is looked at. */
function Budgets({ data, whole, window, clock }: Looking): ReactNode {
  const { from, till } = window ?? whole;
  return (
    <Section title="Limits over time" id="limits">
      {data.budgets.map((budget) => {
        const before = budget.series.findLast(([at]) => at <= from);
        const start = { at: from, used: before?.[1] ?? 0, limit: before?.[2] ?? budget.series[0]?.[2] ?? budget.limit };
        const inside = budget.series.filter(([at]) => at > from && at <= till).map(([at, used, limit]) => ({ at, used, limit }));
        return (
          <div key={budget.label + budget.scope} className="limit">
            <p>
              <b>{budget.label}</b>: peak {budget.peak} of {budget.limit} {budget.peakAt !== null && `at ${clock(budget.peakAt)}`} <code className="soft">{budget.scope}</code>
            </p>
            <Usage points={[start, ...inside]} span={{ from, now: till, until: till }} at={null} label={`${budget.label}: peak ${budget.peak} of ${budget.limit}`} />
          </div>
        );
      })}
    </Section>
  );
}

function Groups({ data, clock }: Looking): ReactNode {
  const [count, setCount] = useState(SHOWN);
  const tone = (status: string): string => (status === "failed" || status === "aborted" ? "denied" : "");
  return (
    <Section title={`Cycles (${data.groups.length})`} id="cycles">
      <div className="scroll tall" tabIndex={0} role="region" aria-label="Table of cycles">
        <table>
          <thead>
            <tr>
              {["Resource", "Policy", "Status", "Window opened", "Locked", "Started", "Completed", "Members"].map((title) => (
                <th key={title}>{title}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.groups.slice(0, count).map((group, index) => (
              <tr key={index}>
                <td>{data.resources[group.row]}</td>
                <td>{group.policy}</td>
                <td className={`whole ${tone(group.status)}`}>{spaced(group.status)}</td>
                {[group.history.find(([, status]) => status === "collecting")?.[0] ?? null, group.locked, group.started, group.completed].map((at, number) => (
                  <td key={number} className="whole">
                    {clock(at)}
                  </td>
                ))}
                <td className="wide">{group.members.map(([name, role, version, state]) => `${name} ${version ?? "–"} ${role === "member" ? "" : `${spaced(role)}, `}${spaced(state)}`).join("; ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {data.groups.length > count && (
        <button type="button" onClick={() => setCount(count + SHOWN)}>
          Show more ({data.groups.length - count} left)
        </button>
      )}
    </Section>
  );
}

function Legend({ revisions, others }: { revisions: number; others: string }): ReactNode {
  const items = Array.from({ length: Math.min(12, revisions) }, (_, index): [string, string] => [hue(index + 1), `revision ${index + 1}`]);
  return (
    <>
      <Colours items={items} />
      <p className="soft">{others}</p>
    </>
  );
}

function Workloads({ data, whole, window, onWindow, clock }: Looking): ReactNode {
  const [replica, setReplica] = useState("");
  const replicas = useMemo(() => [...new Set(data.workloads.flatMap((one) => one.rows.map(([number]) => number)))].sort((a, b) => a - b).map(String), [data]);
  const charts = useMemo(() => data.workloads.map((one): [string, ChartRow[]] => [one.name, podRows(one, replica, whole.till, clock)]), [data, replica, whole, clock]);
  return (
    <Section title="Pods by replica and group" id="workloads" acts={<Choice label="Replica" value={replica} options={["", ...replicas]} onChange={setReplica} />}>
      <Legend revisions={Math.max(...data.workloads.map((one) => one.revisions))} others="An outline waits for a node, stripes start, a full bar is ready, a thin one ends. Shaded places are of surge pods." />
      {charts.map(([name, rows]) => (
        <div key={name}>
          <h3>PodCliqueSet {name}</h3>
          <TimeChart label={`Pods of ${name} over time`} rows={rows} whole={whole} window={window} onWindow={onWindow} clock={clock} size={rows.length > 2 * MANY ? "small" : "normal"} hint="Point at a bar to see a pod." />
        </div>
      ))}
      {data.workloadBudgets.length > 0 && (
        <table>
          <thead>
            <tr>
              {["Budget", "Of", "Peak", "Limit"].map((title) => (
                <th key={title}>{title}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.workloadBudgets.slice(0, 200).map(([kind, scope, peak, limit]) => (
              <tr key={kind + scope} className={peak > limit ? "denied" : undefined}>
                <td>{kind}</td>
                <td>{scope}</td>
                <td>{peak}</td>
                <td>{limit}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}

function Graphs({ data, whole, window, onWindow, clock }: Looking): ReactNode {
  const [wanted, setWanted] = useState("");
  const shown = wanted === "" ? data.graphs.slice(0, MOST_GRAPHS) : data.graphs.filter((one) => one.name === wanted);
  const choice = <Choice label="Instance" value={wanted} options={["", ...data.graphs.map((one) => one.name)]} onChange={setWanted} />;
  return (
    <Section title="Graphs: the revision of every object" id="graphs" acts={choice}>
      <Legend revisions={Math.max(...data.graphs.map((one) => one.revisions))} others="Where an object is pale it is written and not ready." />
      {shown.map((graph) => (
        <div key={graph.name}>
          <h3>{graph.name}</h3>
          <Nodes graph={graph} />
          <TimeChart label={`Objects of ${graph.name} over time`} rows={objectRows(graph, whole.till, clock)} whole={whole} window={window} onWindow={onWindow} clock={clock} hint="Point at a bar to see an object." />
        </div>
      ))}
      {wanted === "" && data.graphs.length > shown.length && <p className="soft">{data.graphs.length - shown.length} more: choose an instance.</p>}
    </Section>
  );
}

function Nodes({ graph }: { graph: SimulatedGraph }): ReactNode {
  const names = Object.keys(graph.edges);
  if (names.length === 0) return null;
  const boxes = names.map((name) => ({ name, tone: "quiet", title: name, content: <><b>{name}</b><span className="soft">{revisionsOf(graph, name)}</span></> }));
  const edges = names.flatMap((name) => (graph.edges[name] ?? []).map((before): [string, string] => [before, name]));
  return <Flow boxes={boxes} edges={edges} width={180} height={46} />;
}

function Lists({ data, clock }: { data: Simulation; clock: (at: number | null) => string }): ReactNode {
  const failed = data.expectations.filter(([passed]) => !passed).length;
  const timed = ([at, what, text]: Said): string[] => [clock(at), what, text];
  const lists: [string, string[][], boolean][] = [
    [failed ? `Expectations, ${failed} not met` : "Expectations, all met", data.expectations.map(([passed, name, message]) => [passed ? "met" : "NOT MET", name, message]), failed > 0],
    ["Not converged", data.waiting.map(([target, state, reason]) => [spaced(state), target, reason]), true],
    ["Refused", data.rejected.map(timed), true],
    ["Warnings", data.warnings.map(timed), true],
    ["Timeline", data.steps.map(timed), data.steps.length <= 12],
  ];
  return lists
    .filter(([, items]) => items.length > 0)
    .map(([title, items, isOpen]) => (
      <details key={title} className="card" open={isOpen}>
        <summary>
          {title} ({items.length})
        </summary>
        <ol className="entries">
          {items.slice(0, MOST_LISTED).map((cells, index) => (
            <li key={index} className={cells[0] === "NOT MET" ? "denied" : undefined}>
              {cells.map((cell, number) => (
                <span key={number}>{cell}</span>
              ))}
            </li>
          ))}
          {items.length > MOST_LISTED && <li>and {items.length - MOST_LISTED} more</li>}
        </ol>
      </details>
    ));
}
