import { expect, test } from "vitest";
import type { Tree } from "../api/types";
import { levels, stuck, toneOf } from "./tree";

function part(kind: string, state: string, revision: number | null, children: Tree[] = [], lines: Tree["lines"] = []): Tree {
  return { subject: `${kind} x`, level: "workload", state, message: "", lines, children, part: { kind, revision, role: "regular", dependsOn: [] } } as Tree;
}

type Line = Tree["lines"][number];
const line = (verdict: Line["verdict"], message: string): Line => ({ type: "update", origin: "", verdict, reason: "Updating", message, nextEvaluationTime: null });

test("how far each level is follows from the revisions of its parts", () => {
  const tree = part("set", "updating", 2, [
    part("replica", "done", null, [part("pod", "ready", 2), part("pod", "ready", 2)]),
    part("replica", "starting", null, [part("pod", "ready", 1), part("pod", "not scheduled", 2)]),
  ]);
  expect(levels(tree)).toEqual([
    { kind: "replica", total: 2, updated: 1, ready: 1 },
    { kind: "pod", total: 4, updated: 3, ready: 3 },
  ]);
});

test("what is stuck is told once, with what is said about it", () => {
  const waiting = line("pending", "waits for capacity");
  const tree = part("set", "updating", 2, [part("replica", "starting", 1, [], [waiting, line("allowed", "fine")]), part("replica", "starting", 1, [], [waiting])]);
  expect(stuck(tree).map((one) => one.message)).toEqual(["waits for capacity"]);
});

test("phases of the cluster have the tones of all phases", () => {
  expect(["ready", "done", "scheduled, not ready", "not scheduled", "failed", "overdue", "paused", "whatever"].map(toneOf)).toEqual([
    "good", "good", "busy", "wait", "bad", "bad", "wait", "quiet",
  ]);
});
