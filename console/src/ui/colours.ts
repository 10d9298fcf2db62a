// A canvas knows no variables: what each colour is here, found out anew when the scheme is another one.

const TOKENS = ["good", "busy", "wait", "bad", "quiet", "ink", "soft", "line", "card", "accent", "on-phase", "quiet-ground", "busy-ground", "wait-ground", "bad-ground", "wait-bar", "on-wait"];

export interface Colours {
  of: (name: string) => string;
  isDark: boolean;
}

let known: { key: string; colours: Colours } | undefined;

export function coloursIn(frame: HTMLElement): Colours {
  const key = `${document.documentElement.dataset["scheme"] ?? ""} ${darkPreference().matches}`;
  if (known?.key === key) return known.colours;
  const probe = frame.appendChild(document.createElement("i"));
  const tokens = new Map(
    TOKENS.map((name) => {
      probe.style.color = `var(--${name})`;
      return [name, getComputedStyle(probe).color] as const;
    }),
  );
  probe.remove();
  const isDark = isDarkColour(tokens.get("card") ?? "");
  known = { key, colours: { of: (name) => tokens.get(name) ?? hueOf(name, isDark) ?? name, isDark } };
  return known.colours;
}

function darkPreference(): MediaQueryList {
  return matchMedia("(prefers-color-scheme: dark)");
}

function isDarkColour(text: string): boolean {
  return (text.match(/\d+/g) ?? []).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) < 384;
}

/** `hue 210` and `hue 210 pale` are colours for things that are many, in either scheme. */
function hueOf(name: string, isDark: boolean): string | undefined {
  const [word, hue, pale] = name.split(" ");
  if (word !== "hue") return undefined;
  const [dark, light] = pale === undefined ? [58, 44] : [30, 80];
  return `hsl(${hue} ${isDark ? 50 : 56}% ${isDark ? dark : light}%)`;
}

/** The same for the style of an element. */
export function cssOf(name: string): string {
  const [light, dark] = [hueOf(name, false), hueOf(name, true)];
  return light === undefined ? `var(--${name})` : `light-dark(${light}, ${dark})`;
}

/** Neighbours lie far apart on the circle; red is left out, for it means trouble. */
export function hue(number: number, isPale = false): string {
  return `hue ${Math.round(40 + ((170 + number * 173.05) % 280))}${isPale ? " pale" : ""}`;
}

/** Calls when what is drawn may be of another colour or size, until it is told to stop. */
export function whenLooksChange(element: HTMLElement, draw: () => void): () => void {
  const size = new ResizeObserver(draw);
  size.observe(element);
  const theme = new MutationObserver(draw);
  theme.observe(document.documentElement, { attributes: true });
  const preference = darkPreference();
  preference.addEventListener("change", draw);
  return () => {
    size.disconnect();
    theme.disconnect();
    preference.removeEventListener("change", draw);
  };
}

/** A pen for a canvas of this size in pixels of the page. */
export function penOf(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}
