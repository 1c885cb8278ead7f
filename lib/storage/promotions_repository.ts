import type { ModelFamily } from "../core/model_family.ts";
import { PromotedTool, PromotionEvent } from "../core/optimization.ts";
import { collection, Repository } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Stored } from "./records.ts";

const InForce = collection({
  noun: "promotion",
  key: keys.promotions,
  schema: PromotedTool,
  idOf: ({ server, toolName, family }) => scopeKey(server, toolName, family),
});

const Events = collection({
  noun: "promotion event",
  key: keys.promotionEvents,
  schema: PromotionEvent,
  idOf: ({ server, toolName, id }) => [server, toolName, id],
});

function scopeKey(server: string, tool: string, family: ModelFamily | undefined) {
  return family === undefined ? [server, tool] : [server, tool, family];
}

export class PromotionsRepository extends Repository {
  readonly #inForce = new InForce(this.store);
  readonly #events = new Events(this.store);

  all(): Promise<PromotedTool[]> {
    return this.#inForce.values();
  }

  find(
    server: string,
    tool: string,
    family?: ModelFamily,
  ): Promise<Stored<PromotedTool> | undefined> {
    return this.#inForce.find(scopeKey(server, tool, family));
  }

  /**
   * One commit: what is in force after the event, and the event. Answers false if the promotion is
   * no longer as it was read (null: there was none).
   */
  async change(event: PromotionEvent, before: string | null): Promise<boolean> {
    const { server, toolName, id, promotion, family } = event;
    const key = family === undefined
      ? keys.promotions(server, toolName)
      : keys.promotions(server, toolName, family);
    const eventKey = keys.promotionEvents(server, toolName, id);
    const saved = await this.store.tryCommit({
      checks: [{ key, versionstamp: before }, { key: eventKey, versionstamp: null }],
      sets: [
        { key: eventKey, value: event },
        ...(promotion === null ? [] : [{ key, value: promotion }]),
      ],
      deletes: promotion === null ? [key] : [],
    });
    return saved !== undefined;
  }

  history(server: string, tool: string): Promise<PromotionEvent[]> {
    return this.#events.values({ under: [server, tool], reverse: true });
  }

  async newest(server: string, tool: string): Promise<PromotionEvent | undefined> {
    return (await this.#events.values({ under: [server, tool], reverse: true, limit: 1 }))[0];
  }
}
