import { PromotedTool, PromotionEvent } from "../core/optimization.ts";
import { keyPart } from "./key_part.ts";
import { keys } from "./keys.ts";
import { listParsed, readParsed } from "./parsed_records.ts";
import type { Stored } from "./record_reader.ts";
import type { Store } from "./store.ts";

const PROMOTION = { noun: "promotion", schema: PromotedTool };
const EVENT = { noun: "step in the history of promotions", schema: PromotionEvent };

/** Which descriptions are in force in the place of the servers' own, and how that came. */
export class PromotionsRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  all(): Promise<PromotedTool[]> {
    return Array.fromAsync(listParsed(this.#store, keys.promotions(), PROMOTION));
  }

  find(server: string, tool: string): Promise<Stored<PromotedTool> | undefined> {
    return readParsed(this.#store, promotionKey(server, tool), PROMOTION);
  }

  /**
   * One commit: what is in force after the event, and the event. Answers false where the promotion is
   * no longer as it was read (null: there was none).
   */
  async change(event: PromotionEvent, before: string | null): Promise<boolean> {
    const { server, toolName, id, promotion } = event;
    const key = promotionKey(server, toolName);
    const eventKey = keys.promotionEvent(keyPart(server), keyPart(toolName), keyPart(id));
    const saved = await this.#store.tryCommit({
      checks: [{ key, versionstamp: before }, { key: eventKey, versionstamp: null }],
      sets: [
        { key: eventKey, value: event },
        ...(promotion === null ? [] : [{ key, value: promotion }]),
      ],
      deletes: promotion === null ? [key] : [],
    });
    return saved !== undefined;
  }

  /** Newest first. */
  history(server: string, tool: string): Promise<PromotionEvent[]> {
    return Array.fromAsync(this.#events(server, tool));
  }

  /** What happened last. */
  async newest(server: string, tool: string): Promise<PromotionEvent | undefined> {
    return (await this.#events(server, tool, 1).next()).value ?? undefined;
  }

  #events(server: string, tool: string, limit = Infinity): AsyncGenerator<PromotionEvent, void> {
    const prefix = keys.promotionEvents(keyPart(server), keyPart(tool));
    return listParsed(this.#store, prefix, EVENT, { reverse: true, limit });
  }
}

function promotionKey(server: string, tool: string) {
  return keys.promotion(keyPart(server), keyPart(tool));
}
