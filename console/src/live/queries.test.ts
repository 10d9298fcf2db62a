import { expect, test } from "vitest";
import { GATHER_MS, pause } from "./queries";

test("the first event after a quiet time is answered at once", () => {
  expect(pause(100_000, 0, 2_000)).toBe(GATHER_MS);
  expect(pause(100_000, -Infinity, 0)).toBe(GATHER_MS);
});

test("while events go on, the server has time for others", () => {
  expect(pause(1_000, 1_000, 10)).toBe(500);
  expect(pause(1_000, 1_000, 1_000)).toBe(4_000);
  expect(pause(1_000, 1_000, 60_000)).toBe(10_000);
});
