// One slider for what was recorded, what is, and what a plan says will be.
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { exact } from "../clock";
import { say } from "../ui/toasts";
import { Dialog, Trouble } from "../ui/parts";
import { relative } from "../words";
import { useAddressedWindow } from "../chart/addressed";
import { isWhole, shifted, type Window, zoomed } from "../chart/window";
import { type Decision, hasAll, momentAt, narrowed, neighbour, nowShare, sentence, shareOf, type Span, written } from "./moments";
import type { TimeLine } from "./use";

const STEPS = 2_000;
const PLAY_MS = 700;
const SPEEDS = ["½", "1", "2", "4", "10"];
const FASTER: Record<string, number> = { "½": 0.5 };
const MARKS = 240;
const MOST_LISTED = 200;
export const NOT_NOW = "What is shown is not now, and acts are for now: nothing can be changed here.";

export function TimeBar({ time }: { time: TimeLine }): ReactNode {
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState("1");
  const [isListing, setListing] = useState(false);
  const [sought, setSought] = useState<string[]>([]);
  const [window, setWindow] = useAddressedWindow("line");
  const { at, mode, decisions, show } = time;
  const span = narrowed(time.span, window);
  const here = at ?? new Date(time.span.now).toISOString();
  const share = at === null ? nowShare(span) : shareOf(span, Date.parse(at));
  const before = neighbour(decisions, here, -1);
  const after = neighbour(decisions, here, 1);
  const step = (to: Decision | undefined): void => {
    setPlaying(false);
    if (to !== undefined) show(to.at);
  };
  // What the next tick needs, so that whatever is drawn anew meanwhile does not begin the wait for it again.
  const next = useRef({ after, show, isBehind: time.isBehind });
  next.current = { after, show, isBehind: time.isBehind };
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setInterval(() => {
      const { after: to, show: showNext, isBehind } = next.current;
      if (isBehind) return;
      if (to === undefined) setPlaying(false);
      else showNext(to.at);
    }, PLAY_MS / (FASTER[speed] ?? Number(speed)));
    return () => clearInterval(timer);
  }, [isPlaying, speed]);
  const play = (): void => {
    const first = decisions[0];
    if (!isPlaying && after === undefined && first !== undefined) show(first.at);
    setPlaying(!isPlaying);
  };
  const drag = (value: number): void => {
    setPlaying(false);
    const wanted = value / STEPS;
    const isNow = span.now === time.span.now && Math.abs(wanted - nowShare(span)) < 1 / STEPS;
    show(isNow ? null : written(momentAt(span, wanted)));
  };
  return (
    <section className={`card time ${mode}`} aria-label="Time">
      <div className="timeline">
        <Track decisions={decisions} span={span} />
        <input
          type="range"
          min={0}
          max={STEPS}
          value={Math.round(share * STEPS)}
          aria-label="Moment"
          aria-valuetext={mode === "now" ? "now" : `${exact(here)}, ${relative(Date.parse(here), time.span.now)}`}
          onChange={(event) => drag(Number(event.target.value))}
        />
      </div>
      <div className="row controls">
        <span className="buttons">
          <button type="button" aria-label="Decision before" title="Decision before" disabled={before === undefined} onClick={() => step(before)}>
            «
          </button>
          <button type="button" aria-label={isPlaying ? "Stop" : "Play"} aria-pressed={isPlaying} onClick={play}>
            {isPlaying ? "‖" : "▶"}
          </button>
          <select aria-label="Speed" title="Speed" value={speed} onChange={(event) => setSpeed(event.target.value)}>
            {SPEEDS.map((one) => (
              <option key={one} value={one}>
                {one}×
              </option>
            ))}
          </select>
          <button type="button" aria-label="Decision after" title="Decision after" disabled={after === undefined} onClick={() => step(after)}>
            »
          </button>
          <button
            type="button"
            disabled={mode === "now"}
            onClick={() => {
              setPlaying(false);
              show(null);
            }}
          >
            Now
          </button>
        </span>
        <span className="grow said" role="status">
          <Said time={time} here={here} sought={sought} />
        </span>
        <Nearer whole={{ from: time.span.from, till: time.span.until }} window={window} around={Date.parse(here)} onWindow={setWindow} />
        <span className="buttons">
          <button type="button" onClick={() => setListing(true)} disabled={decisions.length === 0}>
            Jump to a decision
          </button>
          <button type="button" onClick={() => void share_(here)}>
            Share this moment
          </button>
        </span>
      </div>
      {mode !== "now" && (
        <p className="held soft" role="note">
          {NOT_NOW} <b>Now</b> goes back there.
        </p>
      )}
      <Trouble error={time.error} />
      {isListing && (
        <Decisions
          decisions={decisions}
          now={time.span.now}
          onClose={() => setListing(false)}
          onChoose={(one, words) => {
            setListing(false);
            setSought(words);
            step(one);
          }}
        />
      )}
    </section>
  );
}

/** Why the acts of a page that shows this moment are disabled. */
export function heldBy(time: TimeLine): string | null {
  return time.mode === "now" ? null : NOT_NOW;
}

/** The line goes nearer around the moment that is shown. */
function Nearer(properties: { whole: Window; window: Window | null; around: number; onWindow: (window: Window | null) => void }): ReactNode {
  const { whole, window, around, onWindow } = properties;
  const now = window ?? whole;
  const look = (wanted: Window): void => onWindow(isWhole(whole, wanted) ? null : wanted);
  return (
    <span className="buttons" role="group" aria-label="Part of the line">
      <button type="button" aria-label="Nearer on the line" title="Nearer" onClick={() => look(zoomed(whole, now, 0.5, Math.min(Math.max(around, now.from), now.till)))}>
        +
      </button>
      <button type="button" aria-label="Further on the line" title="Further" disabled={window === null} onClick={() => look(zoomed(whole, now, 2))}>
        −
      </button>
      <button type="button" aria-label="Earlier on the line" title="Earlier" disabled={window === null} onClick={() => look(shifted(whole, now, -0.3))}>
        ‹
      </button>
      <button type="button" aria-label="Later on the line" title="Later" disabled={window === null} onClick={() => look(shifted(whole, now, 0.3))}>
        ›
      </button>
    </span>
  );
}

function Said({ time, here, sought }: { time: TimeLine; here: string; sought: string[] }): ReactNode {
  const { mode, span, future, decisions, isBehind } = time;
  if (mode === "now") {
    const finish = future?.finishAt ? Date.parse(future.finishAt) : undefined;
    const isLate = finish !== undefined && finish <= span.now;
    const expected = finish === undefined ? "" : `; all is done ${relative(finish, span.now)} if nothing else changes`;
    const ends = isLate ? "; it takes longer than expected" : expected;
    return <>now{ends}</>;
  }
  const decided = decisions.find((one) => one.at === here);
  return (
    <>
      <b>
        <time dateTime={here} title={here}>
          {exact(here)}
        </time>
      </b>{" "}
      {relative(Date.parse(here), span.now)}
      {mode === "future" && <span className="mark wait">simulated, if nothing else changes</span>}
      {isBehind && " …"}
      {decided && <span className="soft"> {sentence(decided, sought)}</span>}
    </>
  );
}

async function share_(here: string): Promise<void> {
  const address = new URL(window.location.href);
  address.searchParams.set("at", here);
  await navigator.clipboard.writeText(address.href);
  say("The link to this moment is copied");
}

/** Where something was decided, darker where much was; the future is shaded. */
function Track({ decisions, span }: { decisions: Decision[]; span: Span }): ReactNode {
  const density = useMemo(() => {
    const counts = new Array<number>(MARKS).fill(0);
    for (const one of decisions) {
      if (one.moment < span.from || one.moment > span.until) continue;
      const place = Math.min(MARKS - 1, Math.floor(shareOf(span, one.moment) * MARKS));
      counts[place] = (counts[place] ?? 0) + one.changes.length;
    }
    return counts;
  }, [decisions, span.from, Math.floor(span.now / 5_000), span.until]);
  const most = Math.max(1, ...density);
  const now = nowShare(span) * MARKS;
  return (
    <svg className="track" viewBox={`0 0 ${MARKS} 24`} preserveAspectRatio="none" aria-hidden="true">
      <rect className="was" x={0} y={0} width={now} height={24} />
      {now < MARKS && <rect className="will" x={now} y={0} width={MARKS - now} height={24} />}
      {density.map((count, index) =>
        count === 0 ? null : (
          <rect key={index} className={index < now ? "mark-was" : "mark-will"} x={index + 0.1} width={0.8} y={20 - 16 * Math.sqrt(count / most)} height={4 + 16 * Math.sqrt(count / most)} />
        ),
      )}
      {now > 0 && <line x1={now} x2={now} y1={0} y2={24} />}
    </svg>
  );
}

function Decisions(properties: { decisions: Decision[]; now: number; onClose: () => void; onChoose: (one: Decision, words: string[]) => void }): ReactNode {
  const { decisions, now, onClose, onChoose } = properties;
  const [wanted, setWanted] = useState("");
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  // Of a decision about many, what is sought comes first: the rest is only counted.
  const said = decisions.map((one) => ({ one, text: sentence(one, words), all: one.changes.map((change) => change.name).join(" ") }));
  const found = said.filter(({ text, all }) => hasAll(`${text} ${all}`, words));
  const shown = found.slice(-MOST_LISTED);
  const take = (event: KeyboardEvent): void => {
    const first = shown[0];
    if (event.key !== "Enter" || first === undefined) return;
    event.preventDefault();
    onChoose(first.one, words);
  };
  return (
    <Dialog title="Jump to a decision" onClose={onClose}>
      <input
        type="search"
        autoFocus
        aria-label="Search decisions"
        placeholder="node-3 drain; Enter takes the first"
        value={wanted}
        onKeyDown={take}
        onChange={(event) => setWanted(event.target.value)}
      />
      <ul className="palette decisions">
        {shown.map(({ one, text }) => (
          <li key={one.at}>
            <button type="button" onClick={() => onChoose(one, words)}>
              <time dateTime={one.at} title={one.at}>{exact(one.at)}</time> {one.moment > now && <span className="mark wait">simulated</span>} {text || "cycles and limits"}
            </button>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p className="soft">Nothing was decided about that in this time.</p>}
      {found.length > shown.length && <p className="soft">{found.length - shown.length} earlier ones are not listed: search for them.</p>}
      <div className="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
