import type { ServersAccess } from "./servers_access.ts";

/** Says something once, unless it is disposed of before its time has come. */
export class WaitNotice implements Disposable {
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(afterMs: number, tell: () => Promise<void>) {
    this.#timer = setTimeout(() => void tell(), afterMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
