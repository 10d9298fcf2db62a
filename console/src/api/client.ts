// Requests to the service this page came from. The session is a cookie; writes carry its proof.
import type { Page, ProblemDocument, Session } from "./types";

export type Query = Record<string, string | number | boolean | null | undefined>;

/** A refusal of the API: its title and detail are sentences for people. */
export class Refused extends Error {
  constructor(readonly problem: ProblemDocument) {
    super(problem.detail || problem.title);
  }

  get status(): number {
    return this.problem.status;
  }
}

/** The server did not answer at all. */
export class Unreachable extends Error {}

let proof = "";
let workspace: string | undefined;
let onSessionEnd: () => void = () => undefined;

export function adoptSession(session: Session): void {
  proof = session.csrf ?? "";
}

export function chooseWorkspace(name: string | undefined): void {
  workspace = name;
}

export function currentWorkspace(): string | undefined {
  return workspace;
}

export function whenSessionEnds(listener: () => void): void {
  onSessionEnd = listener;
}

export function sessionEnded(): void {
  onSessionEnd();
}

export function address(path: string, query: Query = {}, scoped = true): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") parameters.set(key, String(value));
  }
  if (scoped && workspace !== undefined) parameters.set("workspace", workspace);
  const text = parameters.toString();
  return `/v1/${path}${text ? `?${text}` : ""}`;
}

/** A path of segments, so that a name may contain any character. */
export function place(...segments: string[]): string {
  return segments.map(encodeURIComponent).join("/");
}

export async function get<T>(path: string, query: Query = {}, scoped = true): Promise<T> {
  return (await request("GET", address(path, query, scoped))) as T;
}

export async function send<T>(method: string, path: string, body?: unknown, scoped = true, query: Query = {}): Promise<T> {
  return (await request(method, address(path, query, scoped), body)) as T;
}

/** Something that is followed beside the stream of events, such as the log of a job. */
export async function openFollowed(path: string, query: Query, after: number | null, signal: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { Accept: "text/event-stream" };
  if (after !== null) headers["Last-Event-ID"] = String(after);
  const answer = await fetch(address(path, query), { headers, credentials: "same-origin", signal });
  if (answer.status === 401) onSessionEnd();
  if (!answer.ok) throw new Refused(await readProblem(answer));
  return answer;
}

/** Every item of a list, page after page, as far as `most`. */
export async function all<T>(path: string, query: Query = {}, most = 20_000, scoped = true): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await get<Page<T>>(path, { limit: 1000, ...query, cursor }, scoped);
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== null && items.length < most);
  return items;
}

let ahead = 0;
/** A clock that differs by less is right: the server tells its own to the second. */
const CLOCK_DOUBT_MS = 2_000;

/** Every answer says what time it is there; what is shown is told by that, whatever the clock here says. */
function hearClock(answer: Response): void {
  const told = Date.parse(answer.headers.get("Date") ?? "");
  if (Number.isNaN(told)) return;
  const found = told + 500 - Date.now();
  ahead = Math.abs(found) > CLOCK_DOUBT_MS ? found : 0;
}

/** Now, by the clock of the server. */
export function serverNow(): number {
  return Date.now() + ahead;
}

async function request(method: string, url: string, body?: unknown): Promise<unknown> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") headers["Headgate-Csrf"] = proof;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer: Response;
  try {
    answer = await fetch(url, {
      method,
      headers,
      credentials: "same-origin",
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch {
    throw new Unreachable("the server cannot be reached");
  }
  hearClock(answer);
  if (answer.ok) return answer.status === 204 ? undefined : await answer.json();
  const problem = await readProblem(answer);
  if (answer.status === 401 && !url.startsWith("/v1/session")) onSessionEnd();
  throw new Refused(problem);
}

async function readProblem(answer: Response): Promise<ProblemDocument> {
  const unknown = {
    type: "about:blank",
    title: `The server answered ${answer.status}`,
    status: answer.status,
    detail: "",
    instance: "",
    errors: [],
  };
  try {
    return { ...unknown, ...((await answer.json()) as object) };
  } catch {
    return unknown;
  }
}

/** The headers of a stream, which is read by whoever opens it. */
export async function openStream(ofWorkspace: string, after: number | null, signal: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { Accept: "text/event-stream" };
  if (after !== null) headers["Last-Event-ID"] = String(after);
  const answer = await fetch(address("events", { changes: true, workspace: ofWorkspace }, false), { headers, credentials: "same-origin", signal });
  hearClock(answer);
  if (answer.status === 401) onSessionEnd();
  if (!answer.ok) throw new Refused(await readProblem(answer));
  return answer;
}
