// Who runs jobs, and whom we have not heard of.
import { type ReactNode, useMemo } from "react";
import { type Act, ActButton } from "../acts/act";
import { remove, valueOf } from "../acts/objects";
import { all, place, send } from "../api/client";
import type { Job, JobAgent } from "../api/types";
import { placeByName, useEvents, useJobs } from "../live/tables";
import { placeOf } from "../time/moments";
import type { Column } from "../ui/listing";
import { Section, Time } from "../ui/parts";
import { plural } from "../words";
import { Objects } from "./tables";

const TYPES = ["pull", "exec", "http", "github", "argocd", "kubernetes", "kubernetes-node", "graph", "workload"];
const DELETABLE = { kind: "JobAgent", collection: "job-agents", noun: "agent", permission: "fleet:write" };

function put(old?: JobAgent): Act {
  return {
    label: old === undefined ? "New agent" : "Change",
    title: old === undefined ? "A new agent" : `Change the agent ${old.name}`,
    says: "Jobs that start from now on are run so; those that run are not disturbed.",
    permission: "fleet:write",
    fields: [
      ...(old === undefined ? [{ name: "name", label: "Name", required: true }] : []),
      { name: "type", label: "Type", options: old === undefined || TYPES.includes(old.type) ? TYPES : [old.type, ...TYPES], initial: old?.type ?? "pull" },
      { name: "config", label: "Configuration (JSON)", long: true, initial: JSON.stringify(old?.config ?? {}, null, 2) },
    ],
    confirms: (event, { name }) => event.kind === "JobAgent" && event.name === (old?.name ?? name),
    run: async ({ name, type, config, reason }) => {
      const parsed = valueOf(config || "{}");
      if (typeof parsed !== "object" || parsed === null) throw new Error("the configuration must be a JSON object");
      if (old === undefined) await send("POST", "job-agents", { name, type, config: parsed }, true, { reason });
      else await send("PATCH", `job-agents/${place(old.name)}`, { type, config: parsed }, true, { reason });
      return `the agent ${old?.name ?? name} is ${old === undefined ? "there" : "changed"}`;
    },
  };
}

const LIVING = ["pending", "queued", "inProgress", "actionRequired"];
const MOST_LOST = 20;

export function Agents(): ReactNode {
  const jobs = useJobs("living jobs", () => all<Job>("jobs", { cel: `job.status in ${JSON.stringify(LIVING)}` }, 2000), () => true);
  const lost = useEvents("agent.lost", MOST_LOST);
  const columns = useMemo<Column<JobAgent>[]>(
    () => [
      { name: "Agent", text: (one) => one.name, cell: (one) => one.name },
      { name: "Type", text: (one) => one.type, cell: (one) => one.type },
      {
        name: "Runs now",
        cell: (one) => {
          const mine = (jobs.items ?? []).filter((job) => job.agent === one.name && LIVING.includes(job.status));
          return mine.length === 0 ? (
            <span className="soft">nothing</span>
          ) : (
            <span title={mine.slice(0, 20).map((job) => `${job.deployment}/${placeOf(job)}`).join("\n")}>{plural(mine.length, "job")}</span>
          );
        },
      },
      {
        name: "Configuration",
        text: (one) => JSON.stringify(one.config),
        cell: (one) => (
          <details>
            <summary>{plural(Object.keys(one.config).length, "field")}</summary>
            <pre>{JSON.stringify(one.config, null, 2)}</pre>
          </details>
        ),
        wide: true,
      },
      { name: "Since", cell: (one) => <Time at={one.createdAt} /> },
      {
        name: "",
        cell: (one) => (
          <span className="buttons">
            <ActButton act={put(one)} />
            <ActButton act={remove(DELETABLE, one.name)} />
          </span>
        ),
      },
    ],
    [jobs.items],
  );
  const missing = lost.items ?? [];
  return (
    <Objects
      title="Agents"
      noun="agent"
      path="job-agents"
      kind="JobAgent"
      placed={placeByName}
      columns={columns}
      choices={[{ key: "type", label: "Type", of: (one: JobAgent) => one.type }]}
      id={(one: JobAgent) => one.id}
      empty={{ says: "No agent runs jobs yet.", command: "headgate apply -f agent.yaml" }}
      acts={<ActButton act={put()} />}
      above={
        missing.length > 0 && (
          <Section title="Not heard of any more" id="lost">
            <ul className="plain">
              {missing.slice(0, 5).map((one) => (
                <li key={one.at + one.name} className="row">
                  <span className="grow">{one.message}</span> <Time at={one.at} />
                </li>
              ))}
            </ul>
          </Section>
        )
      }
    />
  );
}

