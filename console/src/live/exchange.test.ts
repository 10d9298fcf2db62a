import { expect, test } from "vitest";
import { Exchange } from "./exchange";
import type { Told } from "./line";

class Tab {
  told: Told[] = [];
  postMessage = (told: Told): void => void this.told.push(told);
  kinds = (): string[] => this.told.map((one) => (one.type === "message" ? one.kind : one.type === "freshness" ? one.freshness.state : one.type));
}

/** Streams that a test writes by itself. */
function server(): { open: (workspace: string, after: number | null, signal: AbortSignal) => Promise<Response>; opened: { workspace: string; after: number | null; signal: AbortSignal; write: (text: string) => void; end: () => void }[] } {
  const opened: ReturnType<typeof server>["opened"] = [];
  return {
    opened,
    open: (workspace, after, signal) => {
      let controller!: ReadableStreamDefaultController<Uint8Array>;
      const body = new ReadableStream<Uint8Array>({ start: (one) => void (controller = one) });
      opened.push({ workspace, after, signal, write: (text) => controller.enqueue(new TextEncoder().encode(text)), end: () => controller.close() });
      return Promise.resolve(new Response(body));
    },
  };
}

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const message = (id: number, kind: string, data: unknown): string => `id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
const STATE = { targets: [{ name: "a/prod/n1", state: "waiting" }], groups: [], budgets: [] };
const join = { type: "join", user: "ana", workspace: "default" } as const;

test("two tabs have one line, and who comes later is given all there is", async () => {
  const { open, opened } = server();
  const exchange = new Exchange(open);
  const [first, second] = [new Tab(), new Tab()];
  exchange.hear(first, join);
  await soon();
  opened[0]!.write(message(3, "state", STATE));
  opened[0]!.write(message(4, "changes", [{ table: "targets", name: "a/prod/n1", row: { name: "a/prod/n1", state: "running" } }]));
  await soon();
  exchange.hear(second, join);
  expect(opened.length).toBe(1);
  expect(second.kinds()).toEqual(["everything", "live"]);
  expect(second.told[0]).toMatchObject({ all: { targets: [{ state: "running" }] } });
  opened[0]!.write(message(5, "version.published", {}));
  await soon();
  expect(first.kinds()).toEqual(["connecting", "live", "state", "changes", "version.published"]);
  expect(second.kinds().at(-1)).toBe("version.published");
});

test("the line ends with the last tab, and not before", async () => {
  const { open, opened } = server();
  const exchange = new Exchange(open);
  const [first, second] = [new Tab(), new Tab()];
  exchange.hear(first, join);
  exchange.hear(second, join);
  await soon();
  exchange.hear(first, { type: "leave" });
  expect(opened[0]!.signal.aborted).toBe(false);
  exchange.hear(second, { type: "leave" });
  expect(opened[0]!.signal.aborted).toBe(true);
});

test("another person or another workspace has a line of its own", async () => {
  const { open, opened } = server();
  const exchange = new Exchange(open);
  exchange.hear(new Tab(), join);
  exchange.hear(new Tab(), { ...join, user: "bob" });
  exchange.hear(new Tab(), { ...join, workspace: "other" });
  await soon();
  expect(opened.map((one) => one.workspace)).toEqual(["default", "default", "other"]);
});

test("a line that broke goes on after its last event, and every tab hears of it", async () => {
  const { open, opened } = server();
  const exchange = new Exchange(open);
  const tab = new Tab();
  exchange.hear(tab, join);
  await soon();
  opened[0]!.write(message(7, "state", STATE));
  opened[0]!.end();
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(opened[1]!.after).toBe(7);
  expect(tab.kinds()).toEqual(["connecting", "live", "state", "stale", "live", "returned"]);
});
