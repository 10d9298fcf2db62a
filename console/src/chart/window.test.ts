import { describe, expect, it } from "vitest";
import { bounded, density, isWhole, lanesOf, shifted, ticks, zoomed } from "./window";

const WHOLE = { from: 0, till: 100_000 };

describe("a window on a time", () => {
  it("goes nearer around a moment that stays where it is", () => {
    expect(zoomed(WHOLE, WHOLE, 0.5, 20_000)).toEqual({ from: 10_000, till: 60_000 });
  });

  it("never leaves the whole, and never shows nothing", () => {
    expect(bounded(WHOLE, { from: -50_000, till: 10_000 })).toEqual({ from: 0, till: 60_000 });
    expect(zoomed(WHOLE, WHOLE, 9)).toEqual(WHOLE);
    expect(zoomed(WHOLE, { from: 0, till: 3_000 }, 0.01).till).toBeGreaterThanOrEqual(2_000);
    expect(shifted(WHOLE, { from: 60_000, till: 90_000 }, 2)).toEqual({ from: 70_000, till: 100_000 });
    expect(isWhole(WHOLE, shifted(WHOLE, WHOLE, 1))).toBe(true);
  });

  it("has round moments", () => {
    expect(ticks({ from: 4_000, till: 64_000 }, 5)).toEqual([15_000, 30_000, 45_000, 60_000]);
    expect(ticks({ from: 0, till: 86_400_000 }, 2, 3_600_000)).toEqual([39_600_000, 82_800_000]);
    expect(ticks({ from: 0, till: 3e12 }, 3).length).toBeLessThan(1_000);
  });
});

describe("what lies at the same time", () => {
  it("lies in lanes below each other, and takes up again those that are free", () => {
    const spans = [
      { from: 0, till: 10 },
      { from: 5, till: 8 },
      { from: 9, till: 12 },
      { from: 10, till: 11 },
    ];
    expect(lanesOf(spans)).toEqual({ lanes: [0, 1, 1, 0], count: 2 });
  });

  it("is counted", () => {
    const spans = [
      { from: 0, till: 50_000 },
      { from: 25_000, till: 100_000 },
    ];
    expect(density(spans, WHOLE, 4)).toEqual([1, 2, 1, 1]);
    expect(density([{ from: 100_000, till: 100_000 }], WHOLE, 4)).toEqual([0, 0, 0, 1]);
  });
});
