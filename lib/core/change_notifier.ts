/** Default interval: no more than two calls in any second. */
const EVERY_MS = 550;

/** Reports changes of a subject: the first at once, those that follow closely as one. */
export class ChangeNotifier implements Disposable {
  readonly #notify: (subject: string) => void;
  readonly #everyMs: number;
  readonly #waiting = new Map<string, { timer: ReturnType<typeof setTimeout>; again: boolean }>();

  constructor(notify: (subject: string) => void, everyMs = EVERY_MS) {
    this.#notify = notify;
    this.#everyMs = everyMs;
  }

  changed(subject: string): void {
    const waiting = this.#waiting.get(subject);
    if (waiting) {
      waiting.again = true;
      return;
    }
    this.#wait(subject);
    this.#notify(subject);
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  #wait(subject: string): void {
    const entry = {
      again: false,
      timer: setTimeout(() => {
        this.#waiting.delete(subject);
        if (entry.again) this.changed(subject);
      }, this.#everyMs),
    };
    this.#waiting.set(subject, entry);
  }
}
