/** What a gateway has done: another number for each when there was more. */
export interface Work {
  /** Changes of the catalog. */
  tools: number;
  /** Requests of clients. */
  answered: number;
}

export interface TidyOptions {
  /** How often it is looked at in the first minute, when most is done that is done once. */
  soonMs?: number;
  laterMs?: number;
  tidy?: () => void;
}

const SOON_TURNS = 60;
/** So many requests leave enough behind that it is worth a pause. */
const MANY = 500;

/** Gives memory back each time that nothing has been done for a while after much was. */
export function tidyAtRest(
  work: () => Work,
  { soonMs = 1_000, laterMs = 30_000, tidy = collectGarbage }: TidyOptions = {},
): () => void {
  let tidied: Work = { tools: -1, answered: 0 };
  let seen = tidied;
  let turns = 0;
  let timer = setTimeout(look, soonMs);
  function look(): void {
    const current = work();
    const isAtRest = current.tools === seen.tools && current.answered === seen.answered;
    const isMuch = current.tools !== tidied.tools || current.answered - tidied.answered >= MANY;
    seen = current;
    if (isAtRest && isMuch) {
      tidied = current;
      tidy();
    }
    timer = setTimeout(look, ++turns < SOON_TURNS ? soonMs : laterMs);
  }
  return () => clearTimeout(timer);
}

/** Has the engine give back what it keeps for the next burst: an eighth of an idle gateway. */
function collectGarbage(): void {
  const { gc } = globalThis as { gc?: (options: Record<string, string>) => void };
  gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}
