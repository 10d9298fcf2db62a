// Two texts line by line: what stays, what goes, what comes. By the longest common subsequence, as people expect a diff.

export interface DiffLine {
  sign: " " | "-" | "+";
  text: string;
}

const MOST_CELLS = 4_000_000;

export function lineDiff(before: string, after: string): DiffLine[] {
  const old = before === "" ? [] : before.split("\n");
  const fresh = after === "" ? [] : after.split("\n");
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail += 1;
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ sign: " ", text }));
  const middle = compared(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail));
  return [...same(old.slice(0, head)), ...middle, ...same(old.slice(old.length - tail))];
}

function compared(old: string[], fresh: string[]): DiffLine[] {
  const gone = (text: string): DiffLine => ({ sign: "-", text });
  const come = (text: string): DiffLine => ({ sign: "+", text });
  if (old.length * fresh.length > MOST_CELLS) return [...old.map(gone), ...fresh.map(come)];
  const width = fresh.length + 1;
  const best = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      best[i * width + j] =
        old[i] === fresh[j]
          ? (best[(i + 1) * width + j + 1] as number) + 1
          : Math.max(best[(i + 1) * width + j] as number, best[i * width + j + 1] as number);
    }
  }
  const found: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      found.push({ sign: " ", text: old[i] as string });
      i += 1;
      j += 1;
    } else if (j >= fresh.length || (i < old.length && (best[(i + 1) * width + j] as number) >= (best[i * width + j + 1] as number))) {
      found.push(gone(old[i] as string));
      i += 1;
    } else {
      found.push(come(fresh[j] as string));
      j += 1;
    }
  }
  return found;
}

/** What changed with a few lines around it; null marks what is left out. */
export function folded(lines: DiffLine[], around = 2): (DiffLine | null)[] {
  const kept = lines.map((_, index) => lines.slice(Math.max(0, index - around), index + around + 1).some((line) => line.sign !== " "));
  const found: (DiffLine | null)[] = [];
  for (const [index, line] of lines.entries()) {
    if (kept[index]) found.push(line);
    else if (found.at(-1) !== null) found.push(null);
  }
  return found;
}
