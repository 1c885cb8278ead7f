import type { ManagedServer } from "../downstream/managed_server.ts";
import type { TextsScreen } from "./listed_texts.ts";
import { ServerTexts } from "./server_surface_texts.ts";

/** What no caller may reach of the servers' prompts and resources: the same at all doors. */
export class KeptTexts {
  readonly screen: TextsScreen;
  readonly #known = new WeakMap<ManagedServer, ServerTexts>();

  constructor(screen: TextsScreen) {
    this.screen = screen;
  }

  /** Hears what the server says of its lists from then on, for as long as there is the server. */
  of(server: ManagedServer): ServerTexts {
    const known = this.#known.get(server);
    if (known) return known;
    const texts = new ServerTexts(server, this.screen);
    server.onBroadcast((text) => texts.heard(text));
    this.#known.set(server, texts);
    return texts;
  }
}
