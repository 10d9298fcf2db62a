// How a tab gets its events: from the line that all tabs share, or by one of its own where the browser has no such thing.
import { sessionEnded } from "../api/client";
import type { Asked } from "./exchange";
import { Line, type Told } from "./line";

/** A worker that has said nothing by then is not there. */
const ANSWER_MS = 10_000;

export type Leave = () => void;

export function join(user: string, workspace: string, hear: (told: Told) => void): Leave {
  if (typeof SharedWorker === "undefined") return own(workspace, hear);
  let leave: Leave;
  const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const ask = (asked: Asked): void => worker.port.postMessage(asked);
  const part = (): void => {
    clearTimeout(timer);
    worker.onerror = worker.port.onmessage = null;
    ask({ type: "leave" });
    worker.port.close();
  };
  const goAlone = (): void => {
    part();
    leave = own(workspace, hear);
  };
  const timer = setTimeout(goAlone, ANSWER_MS);
  worker.onerror = goAlone;
  worker.port.onmessage = ({ data }: MessageEvent<Told>) => {
    clearTimeout(timer);
    if (data.type === "sessionEnded") sessionEnded();
    else hear(data);
  };
  ask({ type: "join", user, workspace });
  leave = part;
  return () => leave();
}

function own(workspace: string, hear: (told: Told) => void): Leave {
  const line = new Line(workspace, hear);
  line.start();
  return () => line.stop();
}
