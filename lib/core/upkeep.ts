export interface UpkeepOptions {
  work(): Promise<unknown>;
  everyMs: number;
  onError(error: unknown): void;
}

/** Does something at once and then again and again; when it is disposed of, nothing of it runs. */
export function keepUp({ work, everyMs, onError }: UpkeepOptions): AsyncDisposable {
  let working: Promise<unknown> | undefined;
  const turn = () => {
    // One that takes longer than the time between two is not begun twice.
    working ??= work().catch(onError).finally(() => working = undefined);
  };
  turn();
  const timer = setInterval(turn, everyMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await working;
    },
  };
}
