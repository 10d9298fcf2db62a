// Where a page cannot be shown: a sentence and a way on, and the frame around it stays.
import { Component, type ReactNode } from "react";

const LOST = /dynamically imported module|importing a module script|preload CSS/i;
const RELOADED = "headgate.reloaded";

/** A part of the console that was to be loaded and did not come: the server is away, or has another console by now. */
export function isLost(error: Error): boolean {
  return LOST.test(error.message);
}

/** Whether the page that the server gives now names other files than the one that is open. */
export function isReplaced(page: string, own: string | null): boolean {
  return own !== null && !page.includes(own);
}

function ownScript(): string | null {
  return document.querySelector('script[type="module"][src]')?.getAttribute("src") ?? null;
}

/** The page that the server gives now; null while it does not answer. */
async function servedPage(): Promise<string | null> {
  try {
    const answer = await fetch("/", { cache: "no-store", headers: { Accept: "text/html" } });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

/** After an upgrade the console is loaded anew, once: what cannot be loaded then is said. */
async function followUpgrade(): Promise<void> {
  const own = ownScript();
  const page = await servedPage();
  if (page === null || !isReplaced(page, own) || sessionStorage.getItem(RELOADED) === own) return;
  sessionStorage.setItem(RELOADED, own ?? "");
  window.location.reload();
}

interface State {
  error: Error | null;
  isAway: boolean;
}

const FINE: State = { error: null, isAway: false };

/** Around a page; give it another key for another page, so that the next one is tried. */
export class Boundary extends Component<{ children: ReactNode }, State> {
  override state = FINE;

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)), isAway: false };
  }

  override componentDidCatch(error: unknown): void {
    if (error instanceof Error && isLost(error)) void followUpgrade();
  }

  /** A browser remembers what it could not load, so the page is loaded anew, but only from a server that is there. */
  private readonly again = async (): Promise<void> => {
    if (this.state.error === null || !isLost(this.state.error)) return this.setState(FINE);
    if ((await servedPage()) === null) this.setState({ isAway: true });
    else window.location.reload();
  };

  override render(): ReactNode {
    const { error, isAway } = this.state;
    if (error === null) return this.props.children;
    return (
      <section className="card" aria-label="The page cannot be shown">
        <div className="trouble" role="alert">
          <strong>This page cannot be shown</strong>
          <span>{isLost(error) ? "A part of the console could not be loaded: the server does not answer, or has been upgraded." : `Something in it went wrong: ${error.message}`}</span>
          {isAway && <span>The server does not answer yet.</span>}
        </div>
        <div className="buttons">
          <button type="button" onClick={() => void this.again()}>
            Try again
          </button>
        </div>
      </section>
    );
  }
}
