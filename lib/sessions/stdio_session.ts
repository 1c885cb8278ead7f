import type { Surface } from "../surfaces/surface.ts";
import { Session, type SessionRecord } from "./session.ts";

/** The client at this process's own pipes: there as long as they are, and never to be revived. */
export class StdioSession extends Session {
  override readonly isKept = false;
  readonly #write: (text: string) => void;

  constructor(
    record: Omit<SessionRecord, "id">,
    surface: Surface,
    write: (text: string) => void,
  ) {
    super({ id: crypto.randomUUID(), ...record }, surface);
    this.#write = write;
  }

  override push(text: string): void {
    this.#write(text);
  }

  override idleMs(): number {
    return 0;
  }
}
