// What a plan says will be. Of ten thousand targets that is ten megabytes, and to receive and read them in one go would hold
// up whatever is drawn meanwhile: a worker does that, and the page takes it in piece by piece.
import { currentWorkspace, sessionEnded } from "../api/client";
import { type Foretold, taker, type Told } from "./pieces";

export async function readFuture(signal: AbortSignal): Promise<Foretold> {
  const worker = new Worker(new URL("./reader.ts", import.meta.url), { type: "module" });
  try {
    return await new Promise<Foretold>((resolve, reject) => {
      const take = taker();
      worker.onmessage = ({ data }: MessageEvent<Told>) => {
        if (data.type === "sessionEnded") sessionEnded();
        else if (data.type === "failed") reject(new Error(data.message));
        else {
          const all = take(data);
          if (all !== undefined) resolve(all);
        }
      };
      worker.onerror = () => reject(new Error("the plan cannot be read"));
      signal.addEventListener("abort", () => reject(new Error("nobody waits for it any more")));
      worker.postMessage(currentWorkspace());
    });
  } finally {
    worker.terminate();
  }
}
