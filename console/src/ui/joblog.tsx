// What a job prints: all of it, and what comes while one looks.
import { type ReactNode, useEffect, useRef, useState } from "react";
import { place } from "../api/client";
import type { JobLog, JobLogLine } from "../api/types";
import { exact } from "../clock";
import { follow } from "../live/follow";
import { Trouble } from "./parts";

const MOST_SHOWN = 5000;

export function Log({ job }: { job: string }): ReactNode {
  const [lines, setLines] = useState<JobLogLine[]>([]);
  const [state, setState] = useState<{ hasEnded: boolean; isFull: boolean }>({ hasEnded: false, isFull: false });
  const [error, setError] = useState<Error>();
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const over = new AbortController();
    setLines([]);
    follow(`jobs/${place(job)}/log`, { follow: true }, over.signal, ({ event, data }) => {
      if (event !== "lines") return false;
      const page = JSON.parse(data) as JobLog;
      setLines((old) => [...old, ...page.items.filter((line) => line.line > (old.at(-1)?.line ?? -1))].slice(-MOST_SHOWN));
      setState({ hasEnded: page.hasEnded, isFull: page.isFull });
      return page.hasEnded;
    }).catch((failure: Error) => !over.signal.aborted && setError(failure));
    return () => over.abort();
  }, [job]);
  useEffect(() => {
    const shown = box.current;
    if (shown !== null && shown.scrollHeight - shown.scrollTop - shown.clientHeight < 60) shown.scrollTop = shown.scrollHeight;
  }, [lines]);
  return (
    <>
      <Trouble error={error} />
      <pre className="log" ref={box} tabIndex={0} role="log" aria-label="What the job prints">
        {lines.map((line) => (
          <span key={line.line} title={exact(line.at)}>
            {line.text}
            {"\n"}
          </span>
        ))}
      </pre>
      <small className="soft">
        {lines.length === 0 && (state.hasEnded ? "It has printed nothing. " : "Nothing yet. ")}
        {state.isFull && "It has printed more than is kept. "}
        {!state.hasEnded && !error && "Following …"}
      </small>
    </>
  );
}
