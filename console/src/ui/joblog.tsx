// What a job prints: all of it, and what comes while one looks.
import { type ReactNode, useEffect, useRef, useState } from "react";
import { openFollowed, place } from "../api/client";
import type { JobLog, JobLogLine } from "../api/types";
import { SseParser } from "../live/sse";
import { Trouble } from "./parts";

const MOST_SHOWN = 5000;
const PAUSE_MS = 1000;

/** Follows until the job has ended; a broken line is taken up where it was. */
async function follow(job: string, signal: AbortSignal, onPage: (page: JobLog) => void): Promise<void> {
  let next: number | null = null;
  while (!signal.aborted) {
    const answer = await openFollowed(`jobs/${place(job)}/log`, next, signal);
    const reader = answer.body?.getReader();
    const parser = new SseParser();
    const decoder = new TextDecoder();
    for (;;) {
      const piece = await reader?.read();
      if (piece === undefined || piece.done) break;
      for (const message of parser.push(decoder.decode(piece.value, { stream: true }))) {
        if (message.event !== "lines") continue;
        const page = JSON.parse(message.data) as JobLog;
        next = page.nextOffset;
        onPage(page);
        if (page.hasEnded) return;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

export function Log({ job }: { job: string }): ReactNode {
  const [lines, setLines] = useState<JobLogLine[]>([]);
  const [state, setState] = useState<{ hasEnded: boolean; isFull: boolean }>({ hasEnded: false, isFull: false });
  const [error, setError] = useState<Error>();
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const over = new AbortController();
    setLines([]);
    follow(job, over.signal, (page) => {
      setLines((old) => [...old, ...page.items.filter((line) => line.line > (old.at(-1)?.line ?? -1))].slice(-MOST_SHOWN));
      setState({ hasEnded: page.hasEnded, isFull: page.isFull });
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
          <span key={line.line} title={new Date(line.at).toLocaleString()}>
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
