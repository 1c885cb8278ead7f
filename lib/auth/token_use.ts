export interface TokenUseOptions {
  /** When each token was last used since this was last asked, by id. */
  take(): Map<string, number>;
  /** Keeps when one was last used. */
  touch(id: string, time: number): Promise<void>;
}

/** Notes when tokens were last used; what cannot be kept is kept at the next time. */
export class TokenUse {
  readonly #options: TokenUseOptions;
  readonly #unnoted = new Map<string, number>();

  constructor(options: TokenUseOptions) {
    this.#options = options;
  }

  /** Throws what went wrong first, once all were tried. */
  async note(): Promise<void> {
    for (const [id, time] of this.#options.take()) this.#unnoted.set(id, time);
    const failures: unknown[] = [];
    for (const [id, time] of this.#unnoted) {
      try {
        await this.#options.touch(id, time);
        this.#unnoted.delete(id);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
