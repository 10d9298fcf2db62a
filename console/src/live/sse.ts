// Reads a text/event-stream: bytes in any pieces become events.

export interface Message {
  id: string | null;
  event: string;
  data: string;
}

/** Takes the stream piece by piece; a message is given once it is whole. */
export class SseParser {
  private rest = "";

  push(text: string): Message[] {
    const blocks = (this.rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.map(read).filter((message) => message !== null);
  }
}

function read(block: string): Message | null {
  let id: string | null = null;
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") id = value;
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
  return data.length > 0 ? { id, event, data: data.join("\n") } : null;
}
