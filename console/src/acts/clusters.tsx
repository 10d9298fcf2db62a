// Orders for sets and graphs of clusters. The cluster says later what came of them, so they are told as accepted.
import { place, send } from "../api/client";
import type { Act } from "./act";
import { REASON } from "./fleet";

const WORDS = {
  pause: ["Pause", "What is being replaced is finished; nothing more is taken down until it is resumed."],
  resume: ["Resume", "The update goes on where it was."],
  abort: ["Abort", "What has not moved keeps its revision until the template changes."],
} as const;

export function orderCluster(collection: "workloads" | "graphs", action: keyof typeof WORDS, id: string, name: string): Act {
  const [label, says] = WORDS[action];
  return {
    label,
    title: `${label} ${name}`,
    says,
    permission: "target:act",
    ...(action === "resume" ? {} : { tone: "bad" as const }),
    ...(action === "abort" ? { retype: name } : {}),
    fields: [REASON],
    run: async ({ reason }) => {
      const answer = await send<{ isChanged: boolean; message: string }>("POST", `${collection}/${place(id)}/${action}`, { reason });
      return answer.isChanged ? `${label} of ${name}: ordered` : `${name} was so already`;
    },
  };
}

export function partition(id: string, name: string, now: number): Act {
  return {
    label: "Partition",
    title: `Partition of ${name}`,
    says: "Only replicas from this index on are updated; those below keep their revision. 0 updates all of them.",
    permission: "target:act",
    fields: [{ name: "partition", label: "First replica to update", required: true, initial: String(now) }, REASON],
    run: async ({ partition: given, reason }) => {
      const first = Number(given);
      if (!Number.isInteger(first) || first < 0) throw new Error(`"${given}" is no index of a replica: 0, 1, 2, …`);
      await send("POST", `workloads/${place(id)}/partition`, { partition: first, reason });
      return `replicas of ${name} from ${first} on are updated`;
    },
  };
}
