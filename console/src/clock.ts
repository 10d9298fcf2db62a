// Moments as people read them: one way everywhere, in the viewer's zone, which is said once. No page in here.
import { relative } from "./words";

const CLOCK: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const SECONDS: Intl.DateTimeFormatOptions = { ...CLOCK, second: "2-digit" };
const DAY: Intl.DateTimeFormatOptions = { month: "short", day: "numeric" };
const LONGEST_SECONDS_MS = 10 * 60_000;
const LONGEST_CLOCK_MS = 20 * 3_600_000;

/** "19:02", "19:02:04" if it is not a whole minute; with the day where it is another one. */
export function shown(at: number, now: number): string {
  const moment = new Date(at);
  const isToday = moment.toDateString() === new Date(now).toDateString();
  const clock = moment.getSeconds() === 0 ? CLOCK : SECONDS;
  return moment.toLocaleString(undefined, isToday ? clock : { ...DAY, ...clock });
}

/** "Nov 17, 19:02:04": a moment among others of a line. */
export function exact(at: number | string): string {
  return new Date(at).toLocaleString(undefined, { ...DAY, ...SECONDS });
}

/** What stands on hover: the instant as the server writes it too, for whoever looks for it in a log. */
export function title(at: string, now: number): string {
  const moment = new Date(at);
  const whole = moment.toLocaleString(undefined, { weekday: "short", year: "numeric", ...DAY, ...SECONDS, timeZoneName: "short" });
  return `${relative(moment.getTime(), now)}: ${whole} (${at})`;
}

/** On an axis that shows so much: days on long ones, seconds only on short ones. */
export function tick(at: number, span: number): string {
  const moment = new Date(at);
  if (span <= LONGEST_SECONDS_MS) return moment.toLocaleTimeString(undefined, SECONDS);
  if (span <= LONGEST_CLOCK_MS) return moment.toLocaleTimeString(undefined, CLOCK);
  const isMidnight = moment.getHours() === 0 && moment.getMinutes() === 0;
  return moment.toLocaleString(undefined, isMidnight ? DAY : { ...DAY, ...CLOCK });
}

/** "Europe/Berlin, UTC+1". */
export function zone(now: number): string {
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const minutes = -new Date(now).getTimezoneOffset();
  if (minutes === 0) return "UTC";
  const rest = Math.abs(minutes) % 60;
  const offset = `UTC${minutes < 0 ? "−" : "+"}${Math.floor(Math.abs(minutes) / 60)}${rest ? `:${String(rest).padStart(2, "0")}` : ""}`;
  return name ? `${name}, ${offset}` : offset;
}
