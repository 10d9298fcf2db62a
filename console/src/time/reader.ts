// Runs beside a page, and asks for a plan and reads it in its place.
import { chooseWorkspace, get, whenSessionEnds } from "../api/client";
import type { Future } from "../api/types";
import { piecesOf, type Told } from "./pieces";

/** Pieces that come one upon the other would take a whole frame all the same. */
const PAUSE_MS = 8;

const tell = (told: Told): void => self.postMessage(told);

whenSessionEnds(() => tell({ type: "sessionEnded" }));

self.onmessage = async ({ data }: MessageEvent<string | undefined>): Promise<void> => {
  chooseWorkspace(data);
  try {
    for (const piece of piecesOf(await get<Future>("future"))) {
      tell(piece);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  } catch (error) {
    tell({ type: "failed", message: (error as Error).message });
  }
};
