/** What a caller sees, in texts that are others whenever that is. */
export interface ShownLists {
  tools: string;
  servers: string;
}

/** Neither a list nor names of servers. */
const UNTOLD = "?";

/** Which lists the clients that are there were last told of, by principal. */
export class ToldLists {
  readonly #shownTo: (principal: string) => ShownLists;
  readonly #told = new Map<string, ShownLists>();
  /** How many clients are there. */
  readonly #clients = new Map<string, number>();

  constructor(shownTo: (principal: string) => ShownLists) {
    this.#shownTo = shownTo;
  }

  /** A client of a principal's has come. */
  opened(principal: string): void {
    this.#clients.set(principal, (this.#clients.get(principal) ?? 0) + 1);
    if (!this.#told.has(principal)) this.told(principal);
  }

  /** A client has gone; after the last one nobody has been told of anything. */
  closed(principal: string): void {
    const left = (this.#clients.get(principal) ?? 1) - 1;
    if (left > 0) return void this.#clients.set(principal, left);
    this.#clients.delete(principal);
    this.#told.delete(principal);
  }

  /** Which lists are others than those that a principal's clients were last told of. */
  changes(principal: string): { tools: boolean; others: boolean } {
    const [told, now] = [this.#told.get(principal), this.#shownTo(principal)];
    return { tools: told?.tools !== now.tools, others: told?.servers !== now.servers };
  }

  /** A principal's clients know of the lists as they are now. */
  told(principal: string): void {
    this.#told.set(principal, this.#shownTo(principal));
  }

  /**
   * A principal's client lists what is there now. Where that is not what was told, the next look
   * finds a change even if all is as before by then.
   */
  noteListed(principal: string): void {
    const told = this.#told.get(principal);
    if (!told) return;
    const { tools, others } = this.changes(principal);
    if (tools) told.tools = UNTOLD;
    if (others) told.servers = UNTOLD;
  }
}
