// Everything there is: deployments by environments, or every target as one cell of a grid.
import { type ReactNode, useMemo } from "react";
import { all, get } from "../api/client";
import type { ListedTarget, Status } from "../api/types";
import { useLive } from "../live/queries";
import { go, Link, to, usePlace, withQuery } from "../router";
import { Grid } from "../ui/grid";
import { Empty, Loading, Trouble } from "../ui/parts";
import { PHASES, plural, STATES } from "../words";
import { Progress } from "./now";

export function Fleet(): ReactNode {
  const { query } = usePlace();
  const view = query.get("view") === "grid" ? "grid" : "matrix";
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
      </div>
      {view === "grid" ? <Targets /> : <Matrix />}
    </>
  );
}

function Matrix(): ReactNode {
  const status = useLive("status", () => get<Status>("status"));
  const names = useMemo(() => {
    const found = status.data?.deployments.flatMap((one) => one.environments.map((environment) => environment.name));
    return [...new Set(found)];
  }, [status.data]);
  if (status.data === undefined) return status.error ? <Trouble error={status.error} /> : <Loading what="the fleet" />;
  if (status.data.deployments.length === 0) {
    return <Empty command="headgate apply -f fleet.yaml">No deployment is known yet. Describe what there is in a file:</Empty>;
  }
  return (
    <div className="scroll card">
      <table className="matrix">
        <thead>
          <tr>
            <th>Deployment</th>
            {names.map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {status.data.deployments.map((deployment) => (
            <tr key={deployment.name}>
              <th scope="row">{deployment.name}</th>
              {names.map((name) => {
                const one = deployment.environments.find((environment) => environment.name === name);
                if (one === undefined) return <td key={name} className="soft">–</td>;
                return (
                  <td key={name}>
                    {one.newest === null ? (
                      <span className="soft">no version</span>
                    ) : (
                      <Link href={to("rollouts", deployment.name, one.newest)}>
                        <b>{one.newest}</b>
                      </Link>
                    )}
                    {one.newestSuccessful !== one.newest && (
                      <small className="soft"> {one.newestSuccessful ?? "none"} succeeded</small>
                    )}
                    <Progress environment={one} />
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Targets(): ReactNode {
  const { query } = usePlace();
  const cel = query.get("cel") ?? "";
  const state = query.get("state") ?? "";
  const targets = useLive(`targets ${cel} ${state}`, () => all<ListedTarget>("release-targets", { cel, state }));
  const counts = useMemo(() => {
    const found = new Map<string, number>();
    for (const target of targets.data ?? []) found.set(target.state, (found.get(target.state) ?? 0) + 1);
    return found;
  }, [targets.data]);
  return (
    <section className="card">
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          go(withQuery({ cel: String(new FormData(event.currentTarget).get("cel") ?? "") }), true);
        }}
      >
        <input
          name="cel"
          type="search"
          key={cel}
          defaultValue={cel}
          aria-label="Filter in CEL"
          placeholder="target.environment == 'prod'"
        />
        <select aria-label="State" value={state} onChange={(event) => go(withQuery({ state: event.target.value }), true)}>
          <option value="">every state</option>
          {STATES.map((one) => (
            <option key={one} value={one}>
              {PHASES[one].word}
            </option>
          ))}
        </select>
        <span className="soft">{targets.data ? plural(targets.data.length, "target") : ""}</span>
        <span className="legend">
          {STATES.filter((one) => counts.has(one)).map((one) => (
            <span key={one} className={`mark ${PHASES[one].tone}`}>
              {PHASES[one].sign} {counts.get(one)} {PHASES[one].word}
            </span>
          ))}
        </span>
      </form>
      <Trouble error={targets.error} />
      {targets.data === undefined ? (
        !targets.error && <Loading what="targets" />
      ) : targets.data.length === 0 ? (
        <Empty>No target is like that.</Empty>
      ) : (
        <Grid targets={targets.data} onOpen={(one) => go(to("targets", one.deployment, one.environment, one.resource))} />
      )}
    </section>
  );
}
