import { expect, test } from "vitest";
import { SseParser } from "./sse";

test("a message is given once it is whole, however it is cut", () => {
  const parser = new SseParser();
  const text = "retry: 2000\n\nid: 7\nevent: job.created\ndata: {\"a\":1}\n\n: still here\n\nid: 8\ndata: x\ndata: y\n\n";
  const found = [...text].flatMap((letter) => parser.push(letter));
  expect(found).toEqual([
    { id: "7", event: "job.created", data: '{"a":1}' },
    { id: "8", event: "message", data: "x\ny" },
  ]);
});
