// Everything there is: deployments by environments, or every target as one cell of a grid; now, before, and later.
import { type ReactNode, useMemo, useRef, useState } from "react";
import { ActButton } from "../acts/act";
import { HeldActs } from "../acts/obstacles";
import { orderSelected, skipSelected } from "../acts/selected";
import { all, serverNow } from "../api/client";
import type { EnvironmentStatus, ListedTarget, SeenTarget, Status } from "../api/types";
import { useLive } from "../live/queries";
import type { Tables } from "../live/store";
import { placeByName, useObjects, useStore } from "../live/tables";
import { go, Link, to, usePlace, withQuery } from "../router";
import { heldBy, TimeBar } from "../time/bar";
import { partsOf } from "../time/moments";
import { whyThen } from "../time/reasons";
import { type TimeLine, useTimeLine } from "../time/use";
import { CelField } from "../ui/celfield";
import { ExpectedDone, type Finish, useExpected } from "../ui/expected";
import { arrange, Grid } from "../ui/grid";
import { Bar, Empty, Loading, Section, Sentence, Trouble } from "../ui/parts";
import { Written } from "../ui/text";
import { countStates, isUnderWay, parts, PHASES, plural, spaced, STATES } from "../words";
import { BudgetRows } from "./limits";

const SPANS: Record<string, number> = { "15 min": 900_000, "1 h": 3_600_000, "6 h": 21_600_000, "1 day": 86_400_000, "7 days": 604_800_000 };
const NEAREST = "1 h";

export function Fleet(): ReactNode {
  const { query } = usePlace();
  const store = useStore();
  const view = query.get("view") === "grid" ? "grid" : "matrix";
  const span = query.get("span") ?? NEAREST;
  const [opened] = useState(serverNow);
  const time = useTimeLine(opened - (SPANS[span] ?? SPANS[NEAREST] ?? 0));
  return (
    <>
      <div className="head">
        <h1>Fleet</h1>
        <nav className="tabs" aria-label="How the fleet is shown">
          <Link href={withQuery({ view: null })} current={view === "matrix"}>
            Deployments
          </Link>
          <Link href={withQuery({ view: "grid" })} current={view === "grid"}>
            Targets
          </Link>
        </nav>
        <label className="soft">
          Look back{" "}
          <select value={span} onChange={(event) => go(withQuery({ span: event.target.value === NEAREST ? null : event.target.value }), true)}>
            {Object.keys(SPANS).map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      <TimeBar time={time} />
      {!store.isLoaded ? (
        <Loading what="the fleet" />
      ) : view === "grid" ? (
        <HeldActs why={heldBy(time)}>
          <Targets time={time} />
        </HeldActs>
      ) : (
        <Matrix time={time} status={store.status} />
      )}
      <div className="aside">
        {store.isLoaded && view === "matrix" && (
          <div className="stack">
            <Reasons tables={time.tables} />
          </div>
        )}
        <div className="stack">
          <BudgetRows tables={time.tables} />
        </div>
      </div>
    </>
  );
}

interface Pair {
  deployment: string;
  environment: string;
  states: SeenTarget[];
}

function pairsOf(tables: Tables): Pair[] {
  const found = new Map<string, Pair>();
  for (const target of tables.targets.values()) {
    const { deployment, environment } = partsOf(target.name);
    const key = `${deployment}/${environment}`;
    const pair = found.get(key) ?? { deployment, environment, states: [] };
    pair.states.push(target);
    found.set(key, pair);
  }
  return [...found.values()];
}

function Matrix({ time, status }: { time: TimeLine; status: Status | undefined }): ReactNode {
  const pairs = pairsOf(time.tables);
  const expected = useExpected();
  const told = time.mode === "now" ? status : undefined;
  const deployments = [...new Set([...(told?.deployments.map((one) => one.name) ?? []), ...pairs.map((one) => one.deployment)])].sort();
  const environments = [
    ...new Set([...(status?.deployments.flatMap((one) => one.environments.map((two) => two.name)) ?? []), ...pairs.map((one) => one.environment)]),
  ];
  if (deployments.length === 0 && time.mode !== "now") return <Unknown time={time} />;
  if (deployments.length === 0) {
    return <Empty command="headgate apply -f fleet.yaml">No deployment is known yet. Describe what there is in a file:</Empty>;
  }
  const cell = (deployment: string, environment: string): ReactNode => {
    const status_ = told?.deployments.find((one) => one.name === deployment)?.environments.find((one) => one.name === environment);
    const pair = pairs.find((one) => one.deployment === deployment && one.environment === environment);
    return <MatrixCell deployment={deployment} pair={pair} told={status_} finish={status_ && expected(deployment, status_)} />;
  };
  return (
    <div className="scroll card">
      <table className="matrix">
        <thead>
          <tr>
            <th>Deployment</th>
            {environments.map((name) => (
              <th key={name}><Written text={name} /></th>
            ))}
          </tr>
        </thead>
        <tbody>
          {deployments.map((deployment) => (
            <tr key={deployment}>
              <th scope="row"><Written text={deployment} /></th>
              {environments.map((environment) => (
                <td key={environment}>{cell(deployment, environment)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A moment of which nothing is recorded, or nothing yet: that there was nothing is not known. */
function Unknown({ time }: { time: TimeLine }): ReactNode {
  if (time.isBehind && time.error === undefined) return <Loading what="that moment" />;
  return <Empty>Nothing is known of that moment.</Empty>;
}

/** Counts are those of the moment; which version is the newest is told of now alone. */
function MatrixCell(properties: { deployment: string; pair: Pair | undefined; told: EnvironmentStatus | undefined; finish: Finish | undefined }): ReactNode {
  const { deployment, pair, told, finish } = properties;
  if (pair === undefined && told === undefined) return <span className="soft">–</span>;
  const bar = parts(countStates(pair?.states ?? []));
  const versions = versionsOf(pair?.states ?? []);
  const drift = told?.newest == null ? [] : versions.filter(([tag]) => tag !== told.newest);
  return (
    <>
      {told !== undefined &&
        (told.newest === null ? (
          <span className="soft">no version</span>
        ) : (
          <Link href={to("rollouts", deployment, told.newest)}>
            <b>{told.newest}</b>
          </Link>
        ))}
      {told !== undefined && told.newestSuccessful !== told.newest && <small className="soft"> {told.newestSuccessful ?? "none"} succeeded</small>}
      <Bar parts={bar} />
      <small className="soft">{bar.filter((part) => part.count > 0).map((part) => `${part.count} ${part.word}`).join(" · ")}</small>
      {(told === undefined ? versions : drift).length > 0 && (
        <small className="drift">
          {told === undefined ? "runs" : "still runs"} {(told === undefined ? versions : drift).slice(0, 3).map(([tag, count]) => `${tag} ×${count}`).join(", ")}
        </small>
      )}
      {told?.waiting[0] && <small className="soft why"><Sentence text={told.waiting[0].message} /></small>}
      {told !== undefined && <ExpectedDone finish={finish} counts={told.counts} />}
    </>
  );
}

function versionsOf(targets: SeenTarget[]): [string, number][] {
  const found = new Map<string, number>();
  for (const { current } of targets) if (current !== null) found.set(current, (found.get(current) ?? 0) + 1);
  return [...found].sort(([, a], [, b]) => b - a);
}

/** Who waits at that moment, by the word for why: ten thousand that wait for one thing are one line. */
export function Reasons({ tables, deployment }: { tables: Tables; deployment?: string }): ReactNode {
  const found = new Map<string, { reason: string; said: string; state: SeenTarget["state"]; names: string[] }>();
  for (const target of tables.targets.values()) {
    if (target.reason === null || isUnderWay(target.state)) continue;
    if (deployment !== undefined && partsOf(target.name).deployment !== deployment) continue;
    const said = whyThen(target, tables);
    const key = `${target.reason} ${target.state} ${said}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, { reason: target.reason, said, state: target.state, names: [target.name] });
    else known.names.push(target.name);
  }
  if (found.size === 0) return null;
  const rows = [...found.values()].sort((a, b) => b.names.length - a.names.length);
  return (
    <Section title="Who waits, and for what" id="reasons">
      <ul className="plain">
        {rows.map((row) => {
          const shown = oneForEach(row.names).slice(0, 8);
          return (
            <li key={row.said + row.state} className="row">
              <span className={`mark ${PHASES[row.state].tone}`}>
                {PHASES[row.state].sign} {spaced(row.reason).toLowerCase()}
              </span>
              <b className="figures">{plural(row.names.length, "target")}</b>
              <span className="grow">{row.said}</span>
              <span className="links">
                {shown.map((name) => (
                  <Link key={name} href={to("targets", ...Object.values(partsOf(name)))}>
                    {partsOf(name).resource}
                  </Link>
                ))}
                {row.names.length > shown.length && <span className="soft">of {plural(new Set(row.names.map((name) => partsOf(name).resource)).size, "resource")}</span>}
              </span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

/** Of each resource the first. */
function oneForEach(names: string[]): string[] {
  return [...new Map(names.toReversed().map((name) => [partsOf(name).resource, name])).values()].toReversed();
}

const FIELDS = [
  ...["name", "deployment", "environment", "resource", "state", "current", "job.status"].map((field) => `target.${field}`),
  ...["name", "kind", "identifier", "metadata", "config"].map((field) => `resource.${field}`),
  ...["deployment", "environment"].flatMap((one) => ["name", "metadata"].map((field) => `${one}.${field}`)),
];

function Targets({ time }: { time: TimeLine }): ReactNode {
  const { query } = usePlace();
  const store = useStore();
  const cel = query.get("cel") ?? "";
  const state = query.get("state") ?? "";
  const group = query.get("group") ?? "";
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const matched = useFilter(cel);
  const { keys, groupOf } = useMetadata(group);
  const { targets } = time.tables;
  const isShown = (target: SeenTarget): boolean => (state === "" || target.state === state) && (matched.names === null || matched.names.has(target.name));
  const shape = state === "" && time.mode === "now" ? store.names : targets;
  const version = state === "" ? 0 : store.version;
  const table = useMemo(
    () => arrange([...targets.values()].filter(isShown).map((target) => target.name), groupOf),
    [shape, version, state, matched.names, groupOf],
  );
  const shown = useMemo(
    () => (matched.names === null && state === "" ? targets : new Map([...targets].filter(([, target]) => isShown(target)))),
    [targets, store.version, matched.names, state],
  );
  const counts = countStates(shown.values());
  const words = useMemo(
    () => ({ fields: [...FIELDS, ...keys.map((key) => `resource.metadata['${key}']`)], values: valuesOf(targets.values()) }),
    [store.names, keys],
  );
  const set = (changes: Record<string, string>): void => go(withQuery(changes), true);
  return (
    <section className="card">
      <div className="filters">
        <CelField value={cel} words={words} error={matched.error} onSubmit={(text) => set({ cel: text })} />
        <select aria-label="State" value={state} onChange={(event) => set({ state: event.target.value })}>
          <option value="">every state</option>
          {STATES.map((one) => (
            <option key={one} value={one}>
              {PHASES[one].word}
            </option>
          ))}
        </select>
        <select aria-label="Group by" value={group} onChange={(event) => set({ group: event.target.value })}>
          <option value="">not grouped</option>
          {[...new Set([...keys, ...(group ? [group] : [])])].map((key) => (
            <option key={key} value={key}>
              by {key}
            </option>
          ))}
        </select>
        <span className="soft">
          {plural(shown.size, "target")}
          {matched.isOld && matched.error !== undefined && ", by the filter before this one"}
        </span>
        <span className="legend">
          {STATES.filter((one) => counts[one] > 0).map((one) => (
            <span key={one} className={`mark ${PHASES[one].tone}`}>
              {PHASES[one].sign} {counts[one].toLocaleString()} {PHASES[one].word}
            </span>
          ))}
        </span>
      </div>
      {matched.error !== undefined && !("status" in matched.error) && <Trouble error={matched.error} />}
      {targets.size === 0 && time.mode !== "now" ? (
        <Unknown time={time} />
      ) : targets.size === 0 ? (
        <Empty command="headgate apply -f fleet.yaml">There is no target yet. Describe what there is in a file:</Empty>
      ) : shown.size === 0 ? (
        <Empty>No target is like that.</Empty>
      ) : (
        <>
          <Grid table={table} targets={shown} version={store.version} selected={selected} onSelect={setSelected} onOpen={(name) => go(to("targets", ...Object.values(partsOf(name))))} />
          <Selection selected={selected} all={[...shown.keys()]} onSelect={setSelected} />
        </>
      )}
    </section>
  );
}

function valuesOf(targets: Iterable<SeenTarget>): string[] {
  const found = new Set<string>(STATES);
  for (const target of targets) {
    const { deployment, environment, resource } = partsOf(target.name);
    found.add(deployment).add(environment);
    if (found.size < 500) found.add(resource);
  }
  return [...found];
}

const NOBODY: ReadonlySet<string> = new Set();

interface Matched {
  /** Null for everybody. */
  names: ReadonlySet<string> | null;
  error: Error | undefined;
  /** They are those of the filter before: this one is wrong, or not answered yet. */
  isOld: boolean;
}

/** Whom the expression is true of, as the server says; asked again when what it reads has changed. */
function useFilter(cel: string): Matched {
  const before = useRef<ReadonlySet<string> | null>(cel === "" ? null : NOBODY);
  const isOfState = /\b(state|current|job)\b/.test(cel);
  const found = useLive(
    `filter ${cel}`,
    async () => (cel === "" ? null : new Set((await all<ListedTarget>("release-targets", { cel })).map((one) => one.name))),
    (event) => cel !== "" && (isOfState || event.kind === "Resource" || event.kind === "Deployment" || event.kind === "Environment"),
  );
  const isOld = found.data === undefined;
  if (!isOld) before.current = found.data ?? null;
  return { names: before.current, error: found.error, isOld };
}

const SOME = 200;

interface WithMetadata {
  name: string;
  metadata: Record<string, string>;
}

/** Resources are asked for when somebody wants them grouped; one page tells which keys there are. */
function useMetadata(group: string): { keys: string[]; groupOf: ((resource: string) => string) | undefined } {
  const isGrouped = group !== "";
  const some = useObjects("some resources", "Resource", () => all<WithMetadata>("resources", { limit: SOME }, SOME), placeByName<WithMetadata>);
  const every = useObjects(`resources ${isGrouped}`, "Resource", async () => (isGrouped ? await all<WithMetadata>("resources") : []), placeByName<WithMetadata>);
  const keys = useMemo(() => [...new Set((some.items ?? []).flatMap((one) => Object.keys(one.metadata)))].sort(), [some.items]);
  const groupOf = useMemo(() => {
    if (!isGrouped || every.items === undefined) return undefined;
    const values = new Map(every.items.map((one) => [one.name, one.metadata[group]]));
    return (resource: string): string => `${group}: ${values.get(resource) ?? "none"}`;
  }, [group, every.items]);
  return { keys, groupOf };
}

function Selection(properties: { selected: ReadonlySet<string>; all: string[]; onSelect: (names: Set<string>) => void }): ReactNode {
  const { selected, all: every, onSelect } = properties;
  const names = [...selected];
  return (
    <div className="row selection" role="toolbar" aria-label="Selected targets">
      <button type="button" onClick={() => onSelect(new Set(every))}>
        Select all shown
      </button>
      {names.length > 0 && (
        <>
          <b>{plural(names.length, "target")} selected</b>
          <button type="button" onClick={() => onSelect(new Set())}>
            Clear
          </button>
          <ActButton act={orderSelected("redeploy", names)} />
          <ActButton act={orderSelected("rollback", names)} />
          <ActButton act={skipSelected(names)} />
        </>
      )}
    </div>
  );
}
