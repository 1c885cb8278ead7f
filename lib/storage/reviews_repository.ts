import * as z from "zod";
import { collection, Repository } from "./collection.ts";
import { keys } from "./keys.ts";

/** More are not asked of a person; what comes first stays. */
const MAX_NOTICES = 500;
const MAX_REJECTED = 1_000;

/** A tool's definition as the text that came. */
const Definition = z.strictObject({ text: z.string(), fingerprint: z.string() });

export const ChangeNotice = z.strictObject({
  ...Definition.shape,
  tool: z.string(),
  /** Its earlier name if it was renamed. */
  from: z.string().optional(),
  /** What it was when it was last seen by somebody; none for a tool that was added. */
  before: Definition.optional(),
  at: z.number(),
});
export type ChangeNotice = z.infer<typeof ChangeNotice>;

/** A definition that was turned down, and is not asked about again. */
const RejectedTool = z.strictObject({
  tool: z.string(),
  fingerprint: z.string(),
  /** It was added: all that comes under its name is turned down with it. */
  isHidden: z.boolean().optional(),
  at: z.number(),
  by: z.string().optional(),
});

export const Waiver = z.strictObject({
  /** `(instructions)` and the like where it is about another text of the server's. */
  tool: z.string(),
  rule: z.string(),
  /** What it was given for: any other text is judged again. Older ones are for a whole definition. */
  passage: z.string().optional(),
  /** Of the definition that was seen. */
  fingerprint: z.string(),
  reason: z.string().min(1).max(500),
  at: z.number(),
  by: z.string().optional(),
});
export type Waiver = z.infer<typeof Waiver>;

export const ServerReviews = z.strictObject({
  server: z.string(),
  /** Counts up with each change of the server's pins, which are large and read only then. */
  pinsRevision: z.int(),
  notices: z.array(ChangeNotice),
  rejected: z.array(RejectedTool),
  waivers: z.array(Waiver),
});
export type ServerReviews = z.infer<typeof ServerReviews>;

export class ReviewsRepository extends collection({
  noun: "review",
  key: keys.reviews,
  schema: ServerReviews,
  idOf: ({ server }) => server,
}) {
  /** Over the version that was read, the pins in the same commit; false if it is stale. */
  async change(
    { pinsRevision, ...reviews }: ServerReviews,
    pins: ServerPins | undefined,
    versionstamp: string | null,
  ): Promise<boolean> {
    const key = keys.reviews(reviews.server);
    const value: ServerReviews = {
      ...reviews,
      pinsRevision: pinsRevision + (pins ? 1 : 0),
      notices: reviews.notices.slice(0, MAX_NOTICES),
      rejected: reviews.rejected.slice(-MAX_REJECTED),
    };
    const saved = await this.store.tryCommit({
      // No pins are ever written without it, so that its version stands for both.
      checks: [{ key, versionstamp }],
      sets: [
        { key, value },
        ...(pins ? [{ key: keys.pins(reviews.server), value: pins }] : []),
      ],
    });
    return saved !== undefined;
  }

  async removeServer(server: string): Promise<void> {
    await this.store.commit({
      deletes: [keys.reviews(server), keys.pins(server), keys.verdicts(server)],
      announce: false,
    });
  }
}

export function noReviews(server: string): ServerReviews {
  return { server, pinsRevision: 0, notices: [], rejected: [], waivers: [] };
}

/** What is served of one tool, whatever its server says. */
export const PinnedTool = z.strictObject({
  ...Definition.shape,
  name: z.string(),
  pinnedAt: z.number(),
  /** Who pinned it; none if it is as it was first seen. */
  by: z.string().optional(),
  /** What was pinned before, for whoever thinks better of it. */
  before: Definition.optional(),
  /** A person chose it over what the server lists: it stays, whatever the policy but `allow`. */
  isKept: z.boolean().optional(),
});
export type PinnedTool = z.infer<typeof PinnedTool>;

/** The pinned tools of one server; one record, so that they change together. */
export const ServerPins = z.strictObject({
  server: z.string(),
  /** Whether all that was listed at first is pinned, so that what has no pin came later. */
  isWhole: z.boolean(),
  tools: z.array(PinnedTool),
});
export type ServerPins = z.infer<typeof ServerPins>;

export class PinsRepository extends collection({
  noun: "pinned tool list",
  key: keys.pins,
  schema: ServerPins,
  idOf: ({ server }) => server,
}) {}

const StoredFinding = z.strictObject({
  rule: z.string(),
  severity: z.enum(["low", "medium", "high"]),
  where: z.string(),
  excerpt: z.string(),
  why: z.string(),
  span: z.tuple([z.int(), z.int()]).optional(),
  passage: z.string().optional(),
});

const StoredVerdicts = z.strictObject({
  /** Other where the rules are, or what the tools were judged among. */
  stamp: z.string(),
  /** Fingerprints of definitions with nothing in them. */
  clean: z.array(z.string()),
  found: z.array(z.strictObject({ fingerprint: z.string(), findings: z.array(StoredFinding) })),
});
type StoredVerdicts = z.infer<typeof StoredVerdicts>;

/** The scanner's findings, so that a start need not scan every definition again; a cache. */
export class VerdictsRepository extends Repository {
  find(server: string): Promise<StoredVerdicts | undefined> {
    return this.readAs(keys.verdicts(server), StoredVerdicts);
  }

  save(server: string, verdicts: StoredVerdicts): Promise<void> {
    return this.put(keys.verdicts(server), verdicts);
  }
}
