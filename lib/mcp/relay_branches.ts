/** Instances of one server for the folders of one client. */
const MOST_FOLDERS = 20;
/** Connections for calls that are in flight at the same time. */
const MOST_LANES = 8;

interface Branch extends AsyncDisposable {
  readonly isIdle: boolean;
}

/**
 * Further relays of one client of 2026-07-28 to the same server. Clients that look the same share them:
 * one for each folder that the server starts in, and one for each call whose questions have to be told
 * apart from those of others.
 */
export class RelayBranches<Relay extends Branch> implements AsyncDisposable {
  /** The one used last comes last. */
  readonly #byFolder = new Map<string | undefined, Relay>();
  readonly #lanes: Relay[] = [];

  get all(): Relay[] {
    return [...this.#byFolder.values(), ...this.#lanes];
  }

  get lanes(): readonly Relay[] {
    return this.#lanes;
  }

  get latestFolder(): string | undefined {
    return [...this.#byFolder.keys()].at(-1);
  }

  inFolder(folder: string | undefined, open: () => Relay): Relay {
    const relay = this.#byFolder.get(folder) ?? open();
    this.#byFolder.delete(folder);
    this.#byFolder.set(folder, relay);
    for (const [oldest, idle] of this.#byFolder) {
      if (this.#byFolder.size <= MOST_FOLDERS) break;
      if (!idle.isIdle) continue;
      this.#byFolder.delete(oldest);
      void idle[Symbol.asyncDispose]();
    }
    return relay;
  }

  /** One that nothing is in flight on; undefined if all of them are busy, and there are many. */
  freeLane(open: () => Relay): Relay | undefined {
    const free = this.#lanes.find(({ isIdle }) => isIdle);
    if (free || this.#lanes.length >= MOST_LANES) return free;
    const lane = open();
    this.#lanes.push(lane);
    return lane;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((relay) => relay[Symbol.asyncDispose]()));
  }
}
