// When a rollout is expected to be over, by a plan that has an age; a moment that has passed is not one at which it ended.
import type { ReactNode } from "react";
import { Mark, Time, useNow } from "./parts";

export interface Finish {
  /** Null where somebody is waited for. */
  at: string | null;
  madeAt: string;
}

/** Of two plans, the later one knows more. */
export function later(...finishes: (Finish | null | undefined)[]): Finish | undefined {
  const known = finishes.filter((one): one is Finish => one !== null && one !== undefined);
  return known.sort((a, b) => Date.parse(b.madeAt) - Date.parse(a.madeAt))[0];
}

export function Expected({ finish }: { finish: Finish | undefined }): ReactNode {
  const now = useNow();
  if (finish === undefined) return <span className="soft">–</span>;
  if (finish.at === null) return <span className="soft whole">needs a person</span>;
  return (
    <>
      {Date.parse(finish.at) <= now ? (
        <>
          <Mark tone="wait" sign="!" word="overdue" /> expected <Time at={finish.at} />
        </>
      ) : (
        <Time at={finish.at} />
      )}{" "}
      <small className="soft whole" title="if nothing else changes">
        planned <Time at={finish.madeAt} />
      </small>
    </>
  );
}
