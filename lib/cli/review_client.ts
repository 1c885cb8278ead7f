import { z } from "zod";
import { ReviewDecision, ReviewList, ReviewPolicy } from "../surfaces/review_item.ts";
import type { AskGateway } from "./toolset_client.ts";

const Overview = ReviewList.extend({
  decisions: z.array(ReviewDecision),
  policies: z.array(ReviewPolicy),
});
export type ReviewOverview = z.infer<typeof Overview>;

const Done = z.object({ done: z.string() });

export type ReviewVerb = "approve" | "reject" | "revert" | "waive" | "unwaive" | "policy";

/** What waits for a decision, through a running gateway. */
export class ReviewClient {
  readonly #ask: AskGateway;

  constructor(ask: AskGateway) {
    this.#ask = ask;
  }

  list(): Promise<ReviewOverview> {
    return this.#ask(Overview, "GET", "/api/review");
  }

  async show(server: string, tool: string) {
    const query = new URLSearchParams({ server, tool });
    return (await this.#ask(ReviewList, "GET", `/api/review?${query}`)).items;
  }

  /** Answers in words what was done. */
  async decide(verb: ReviewVerb, body: Record<string, unknown>): Promise<string> {
    return (await this.#ask(Done, "POST", `/api/review/${verb}`, body)).done;
  }
}
