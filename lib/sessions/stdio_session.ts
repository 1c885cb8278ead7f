import type { ClientIdentity, Surface } from "../surfaces/surface.ts";
import { Session } from "./session.ts";

/** The client at this process's own pipes: there as long as they are, and never to be revived. */
export class StdioSession extends Session {
  readonly #write: (text: string) => void;

  constructor(
    door: string,
    client: ClientIdentity,
    surface: Surface,
    write: (text: string) => void,
  ) {
    super(crypto.randomUUID(), door, client, surface);
    this.#write = write;
    this.savedAt = Infinity;
  }

  override push(text: string): void {
    this.#write(text);
  }

  override idleMs(): number {
    return 0;
  }
}
