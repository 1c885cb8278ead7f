import { nameInText } from "../catalog/catalog_tool.ts";
import { isOwnOffer } from "../catalog/listed_to.ts";

/** Of the offers to which a tool is listed, the newest: clients may offer anything. */
const MOST_LISTED_TO = 100;

/** A tool that a server does not list to all, and the clients' offers to which it does. */
interface ConditionalTool {
  text: string;
  listedTo: readonly string[];
}

type ByName = ReadonlyMap<string, ConditionalTool>;

/** Tools that servers list only to clients with certain capabilities (lib/catalog/listed_to.ts). */
export class ConditionalTools {
  readonly #servers = new Map<string, ByName>();

  /** Takes over what is stored of a server that nothing is known of yet. */
  recall(
    server: string,
    stored: readonly { name: string; text: string; listedTo?: readonly string[] | undefined }[],
  ): void {
    if (this.#servers.has(server)) return;
    const tools = stored.flatMap(({ name, text, listedTo = [] }) => {
      const offers = listedTo.filter((offer) => !isOwnOffer(offer));
      return offers.length > 0 ? [[name, { text, listedTo: offers }] as const] : [];
    });
    this.#servers.set(server, new Map(tools));
  }

  /** The server's tools that are not in its list for all. */
  besides(server: string, shared: readonly string[]): ByName {
    return without(this.#servers.get(server) ?? new Map(), shared);
  }

  /**
   * Notes what a server lists to clients with an offer, besides its list for all; undefined if that was
   * known, else whether the offer is new.
   */
  note(
    server: string,
    offer: string,
    texts: readonly string[],
    shared: readonly string[],
  ): { isNew: boolean } | undefined {
    const known = this.#servers.get(server) ?? new Map<string, ConditionalTool>();
    const listed = without(new Map(texts.map((text) => [nameInText(text), text])), shared);
    // Without a name it is not a tool.
    listed.delete("");
    const next = new Map<string, ConditionalTool>();
    for (const [tool, { text, listedTo }] of known) {
      const others = listedTo.filter((other) => other !== offer);
      if (others.length > 0) next.set(tool, { text, listedTo: others });
    }
    for (const [tool, text] of listed) {
      const others = next.get(tool)?.listedTo ?? [];
      next.set(tool, { text, listedTo: [...others, offer].slice(-MOST_LISTED_TO) });
    }
    if (JSON.stringify([...next]) === JSON.stringify([...known])) return undefined;
    this.#servers.set(server, next);
    return { isNew: ![...known.values()].some(({ listedTo }) => listedTo.includes(offer)) };
  }

  forget(server: string): void {
    this.#servers.delete(server);
  }
}

/** Those of the tools that are not among the texts. */
function without<T>(tools: ReadonlyMap<string, T>, texts: readonly string[]): Map<string, T> {
  if (tools.size === 0) return new Map();
  const names = new Set(texts.map(nameInText));
  return new Map([...tools].filter(([name]) => !names.has(name)));
}
