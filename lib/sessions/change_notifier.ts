/** After the first change at once, clients hear at most this often: no more than twice in any second. */
const EVERY_MS = 550;

/** Tells of changes: the first at once, those that follow closely together as one. */
export class ChangeNotifier implements Disposable {
  readonly #notify: (subject: string) => void;
  readonly #waiting = new Map<string, { timer: ReturnType<typeof setTimeout>; again: boolean }>();

  constructor(notify: (subject: string) => void) {
    this.#notify = notify;
  }

  changed(subject: string): void {
    const waiting = this.#waiting.get(subject);
    if (waiting) {
      waiting.again = true;
      return;
    }
    this.#notify(subject);
    this.#wait(subject);
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
      }, EVERY_MS),
    };
    this.#waiting.set(subject, entry);
  }
}
