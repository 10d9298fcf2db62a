// The small parts that every page is made of.
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { currentWorkspace, Refused, serverNow } from "../api/client";
import type { State } from "../api/types";
import * as clock from "../clock";
import { inWorkspace, PHASES, type Phase, relative } from "../words";

export function PhaseMark({ state, note }: { state: State; note?: string }): ReactNode {
  const phase = PHASES[state];
  return <Mark tone={phase.tone} sign={phase.sign} word={note ? `${phase.word}: ${note}` : phase.word} />;
}

export function Mark({ tone, sign, word }: { tone: Phase["tone"]; sign: string; word: string }): ReactNode {
  return (
    <span className={`mark ${tone}`}>
      <span aria-hidden="true">{sign}</span> {word}
    </span>
  );
}

/** Ticks once a second for everybody, so that relative times stay right. */
const tickers = new Set<(now: number) => void>();
setInterval(() => {
  const now = serverNow();
  for (const ticker of tickers) ticker(now);
}, 1000);

export function useNow(): number {
  const [now, setNow] = useState(serverNow());
  useEffect(() => {
    tickers.add(setNow);
    return () => void tickers.delete(setNow);
  }, []);
  return now;
}

export function Time({ at }: { at: string | null | undefined }): ReactNode {
  const now = useNow();
  if (!at) return <span className="soft">–</span>;
  return (
    <time dateTime={at} title={clock.title(at, now)}>
      {relative(Date.parse(at), now)}
    </time>
  );
}

const MOMENT = /(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)/;

/** What the server says, with its moments in the viewer's zone, each in one piece. Names and reasons of people are in it,
 * which turn nothing around that stands beside it. */
export function Sentence({ text }: { text: string }): ReactNode {
  if (text === "") return null;
  return <bdi dir="ltr">{text.split(MOMENT).map((piece, index) => (index % 2 === 0 ? piece : <Moment key={index} at={piece} />))}</bdi>;
}

function Moment({ at }: { at: string }): ReactNode {
  const now = useNow();
  return (
    <time className="whole" dateTime={at} title={clock.title(at, now)}>
      {clock.shown(Date.parse(at), now)}
    </time>
  );
}

export function Section(properties: { title: ReactNode; acts?: ReactNode; children: ReactNode; id?: string }): ReactNode {
  return (
    <section className="card" aria-labelledby={properties.id}>
      <div className="head">
        <h2 id={properties.id}>{properties.title}</h2>
        {properties.acts}
      </div>
      {properties.children}
    </section>
  );
}

/** Each thing that is wrong, once: what the detail says already is not said again, but its place is. */
export function troubles(error: Error): { path: string; text: string }[] {
  const detail = error.message;
  const errors = error instanceof Refused ? error.problem.errors : [];
  const said = errors.find((one) => detail.includes(one.message));
  const place = said === undefined || detail.includes(said.path) ? "" : said.path;
  const others = errors.filter((one) => one !== said && !(detail.includes(one.message) && detail.includes(one.path)));
  return [{ path: place, text: detail }, ...others.map((one) => ({ path: one.path, text: one.message }))];
}

export function Trouble({ error }: { error: Error | undefined }): ReactNode {
  if (error === undefined) return null;
  return (
    <div className="trouble" role="alert">
      <strong>{error instanceof Refused ? error.problem.title : "Something is wrong"}</strong>
      {troubles(error).map(({ path, text }) => (
        <span key={path + text}>
          {path && <code>{path}</code>} <Sentence text={text} />
        </span>
      ))}
    </div>
  );
}

/** Nothing here yet: what to do next, with a command to take along. */
export function Empty({ children, command }: { children: ReactNode; command?: string }): ReactNode {
  return (
    <div className="empty">
      <p>{children}</p>
      {command && <Command text={command} />}
    </div>
  );
}

export function Command({ text: given }: { text: string }): ReactNode {
  const text = inWorkspace(given, currentWorkspace());
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <div className="command">
      <code>{text}</code>
      <button type="button" onClick={() => void copy()} aria-label={`Copy: ${text}`}>
        {copied ? "copied" : "copy"}
      </button>
    </div>
  );
}

export function Loading({ what }: { what: string }): ReactNode {
  return (
    <p className="soft" role="status">
      Loading {what} …
    </p>
  );
}

/** Parts of a whole, each with its tone; the counts are said beside it. */
export function Bar({ parts }: { parts: { tone: Phase["tone"]; count: number; word: string }[] }): ReactNode {
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  const said = parts
    .filter((part) => part.count > 0)
    .map((part) => `${part.count} ${part.word}`)
    .join(", ");
  return (
    <div className="bar" role="img" aria-label={said || "nothing"} title={said}>
      {parts.map((part) =>
        part.count > 0 ? (
          <span key={part.word} className={part.tone} style={{ width: `${(100 * part.count) / total}%` }} />
        ) : null,
      )}
    </div>
  );
}

/** A dialog that says exactly what will happen, and keeps the focus while it is open. */
export function Dialog(properties: { title: string; onClose: () => void; children: ReactNode }): ReactNode {
  const { title, onClose, children } = properties;
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose} onClick={(event) => event.target === element.current && onClose()}>
      <div className="dialog">
        <h2 id={id}>
          <bdi>{title}</bdi>
        </h2>
        {children}
      </div>
    </dialog>
  );
}

/** A sentence whose expressions stand between backticks. */
export function Worded({ text }: { text: string }): ReactNode {
  return text.split("`").map((piece, index) => (index % 2 === 1 ? <code key={index}>{piece}</code> : <Sentence key={index} text={piece} />));
}
