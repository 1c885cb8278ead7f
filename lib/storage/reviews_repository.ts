import { z } from "zod";
import { Collection } from "./collection.ts";
import { keys } from "./keys.ts";
import type { ServerPins } from "./pins_repository.ts";
import type { Store } from "./store.ts";

/** More are not asked of a person; what comes first stays. */
const MAX_NOTICES = 500;
const MAX_REJECTED = 1_000;

/** A change that was passed on, until somebody has seen it. */
export const ChangeNotice = z.strictObject({
  tool: z.string(),
  /** Its name before, where it has another. */
  from: z.string().optional(),
  /** What it is now. */
  text: z.string(),
  fingerprint: z.string(),
  /** What it was when it was last seen by somebody; none for a tool that was added. */
  before: z.strictObject({ text: z.string(), fingerprint: z.string() }).optional(),
  /** In ms since the epoch. */
  at: z.number(),
});
export type ChangeNotice = z.infer<typeof ChangeNotice>;

/** A definition that was turned down, and is not asked about again. */
export const RejectedTool = z.strictObject({
  tool: z.string(),
  fingerprint: z.string(),
  /** It was added: all that comes under its name is turned down with it. */
  isHidden: z.boolean().optional(),
  at: z.number(),
  by: z.string().optional(),
});
export type RejectedTool = z.infer<typeof RejectedTool>;

/** A finding that somebody has judged to be none. */
export const Waiver = z.strictObject({
  /** `(instructions)` and the like where it is about another text of the server's. */
  tool: z.string(),
  rule: z.string(),
  /** Of the definition it was given for: another one is judged anew. */
  fingerprint: z.string(),
  reason: z.string().min(1).max(500),
  at: z.number(),
  by: z.string().optional(),
});
export type Waiver = z.infer<typeof Waiver>;

/** What people decided of one server's tools, and what waits for them. */
export const ServerReviews = z.strictObject({
  server: z.string(),
  /** Counts up with each change of the server's pins, which are large and read only then. */
  pinsRevision: z.int(),
  notices: z.array(ChangeNotice),
  rejected: z.array(RejectedTool),
  waivers: z.array(Waiver),
});
export type ServerReviews = z.infer<typeof ServerReviews>;

export class ReviewsRepository extends Collection<ServerReviews> {
  constructor(store: Store) {
    super(store, {
      noun: "review",
      prefix: keys.reviews(),
      key: keys.reviewsOf,
      schema: ServerReviews,
      idOf: ({ server }) => server,
    });
  }

  /** Over the version that was read, the pins in the same commit; false where it is stale. */
  async change(
    { pinsRevision, ...reviews }: ServerReviews,
    pins: ServerPins | undefined,
    versionstamp: string | null,
  ): Promise<boolean> {
    const key = keys.reviewsOf(reviews.server);
    const value = bounded({ ...reviews, pinsRevision: pinsRevision + (pins ? 1 : 0) });
    const saved = await this.store.tryCommit({
      // No pins are ever written without it, so that its version stands for both.
      checks: [{ key, versionstamp }],
      sets: [
        { key, value },
        ...(pins ? [{ key: keys.pinsOf(reviews.server), value: pins }] : []),
      ],
    });
    return saved !== undefined;
  }

  /** A server that is gone takes along what was decided of it. */
  async removeServer(server: string): Promise<void> {
    await this.store.commit({
      deletes: [keys.reviewsOf(server), keys.pinsOf(server), keys.verdictsOf(server)],
      announce: false,
    });
  }
}

export function noReviews(server: string): ServerReviews {
  return { server, pinsRevision: 0, notices: [], rejected: [], waivers: [] };
}

function bounded(reviews: ServerReviews): ServerReviews {
  return {
    ...reviews,
    notices: reviews.notices.slice(0, MAX_NOTICES),
    rejected: reviews.rejected.slice(-MAX_REJECTED),
  };
}
