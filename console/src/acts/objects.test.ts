import { expect, test } from "vitest";
import { momentOf, valueOf } from "./objects";

const NOW = Date.parse("2026-01-01T00:00:00Z");

test("a moment is a length of time from now, or a moment", () => {
  expect(momentOf("", NOW)).toBeUndefined();
  expect(momentOf("2h", NOW)).toBe("2026-01-01T02:00:00.000Z");
  expect(momentOf("1d 30m", NOW)).toBe("2026-01-02T00:30:00.000Z");
  expect(momentOf("2026-03-01T09:00:00Z", NOW)).toBe("2026-03-01T09:00:00.000Z");
  expect(() => momentOf("soon", NOW)).toThrow("soon");
  expect(() => momentOf("2h and a bit", NOW)).toThrow();
});

test("a value is JSON where it is some", () => {
  expect(valueOf("3")).toBe(3);
  expect(valueOf('{"a": true}')).toEqual({ a: true });
  expect(valueOf("green")).toBe("green");
});
