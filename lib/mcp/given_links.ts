import type { GivenLinksRepository } from "../storage/servers_repository.ts";

/** A server that refers to more at once is not remembered for all of it. */
const MOST_WAITING = 1_000;
/** Longer ones are known only to the session that they were given to. */
const MAX_URI = 2_000;

/** What one caller was given, in whichever session and at whichever gateway. */
export interface CallersLinks {
  note(uri: string, server: string): void;
  find(uri: string): Promise<string[]>;
}

/**
 * Which servers referred to a file or a web page, whose URI does not say that. Clients without a session
 * read it with a request that may reach any gateway on the store.
 */
export class GivenLinks {
  readonly #records: GivenLinksRepository;
  #waiting = 0;
  #written: Promise<void> = Promise.resolve();

  constructor(records: GivenLinksRepository) {
    this.#records = records;
  }

  of(principal: string): CallersLinks {
    return {
      note: (uri, server) => this.#note(principal, uri, server),
      find: async (uri) => {
        await this.#written;
        return await this.#records.serversOf(principal, uri);
      },
    };
  }

  /** In the background: the answer with the link does not wait for it. */
  #note(principal: string, uri: string, server: string): void {
    if (uri.length > MAX_URI || this.#waiting >= MOST_WAITING) return;
    this.#waiting++;
    this.#written = this.#written.then(() => this.#records.note({ principal, uri, server }))
      .finally(() => this.#waiting--);
  }
}
