import { expect, test } from "vitest";
import { exact, shown, tick, title, zone } from "./clock";

const NOON = Date.parse("2026-03-01T12:00:00Z");

test("moments are written one way, with the instant on hover", () => {
  expect([shown(NOON, NOON), shown(NOON + 5_000, NOON), shown(NOON - 86_400_000, NOON)]).toEqual(["12:00", "12:00:05", "Feb 28, 12:00"]);
  expect(exact(NOON)).toBe("Mar 1, 12:00:00");
  expect(title("2026-03-01T12:00:00Z", NOON + 120_000)).toBe("2 min ago: Sun, Mar 1, 2026, 12:00:00 UTC (2026-03-01T12:00:00Z)");
  expect(zone(NOON)).toBe("UTC");
});

test("ticks say no more than tells them apart", () => {
  expect(tick(NOON, 60_000)).toBe("12:00:00");
  expect(tick(NOON, 3_600_000)).toBe("12:00");
  expect(tick(NOON, 3 * 86_400_000)).toBe("Mar 1, 12:00");
  expect(tick(NOON - 43_200_000, 3 * 86_400_000)).toBe("Mar 1");
});
