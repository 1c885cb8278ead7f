import { z } from "zod";
import { ToolDiff } from "../catalog/tool_diff.ts";

export const ReviewFinding = z.object({
  rule: z.string(),
  severity: z.enum(["low", "medium", "high"]),
  where: z.string(),
  excerpt: z.string(),
  why: z.string(),
});
export type ReviewFinding = z.infer<typeof ReviewFinding>;

/** One thing about a server's tools that a person should look at. */
export const ReviewItem = z.object({
  server: z.string(),
  /** The server's own name for it, or in parentheses what else it is. */
  tool: z.string(),
  kind: z.enum(["changed", "added", "renamed", "invalid", "finding"]),
  /**
   * Held until it is approved; passed on and to be seen; kept from everybody by what was found in
   * it; listed although something was; turned down.
   */
  state: z.enum(["held", "notice", "quarantined", "flagged", "rejected"]),
  /** Of the definition it is about: a decision is for this one alone. */
  fingerprint: z.string(),
  /** Its name before, where it has another. */
  from: z.string().optional(),
  /** When it was first seen like this, in ms since the epoch. */
  at: z.number().optional(),
  /** Against what is served, or was before. */
  diff: ToolDiff.optional(),
  /** The definition, cut where it is long; for what cannot be compared. */
  definition: z.string().optional(),
  findings: z.array(ReviewFinding),
});
export type ReviewItem = z.infer<typeof ReviewItem>;

/** What waits, in short. */
export type WaitingItem = Pick<ReviewItem, "server" | "tool" | "kind" | "state">;

/** What was decided, newest first. */
export const ReviewDecision = z.object({
  server: z.string(),
  tool: z.string(),
  kind: z.enum(["approved", "rejected", "waived", "reverted"]),
  fingerprint: z.string(),
  at: z.number(),
  by: z.string().optional(),
  /** Of a waiver. */
  rule: z.string().optional(),
  reason: z.string().optional(),
  /** Whether there is an earlier version to go back to. */
  isRevertible: z.boolean(),
});
export type ReviewDecision = z.infer<typeof ReviewDecision>;

export const ReviewList = z.object({
  items: z.array(ReviewItem),
  /** How many there are beyond those. */
  more: z.int(),
});
export type ReviewList = z.infer<typeof ReviewList>;

/** How a server's changes are treated. */
export const ReviewPolicy = z.object({
  server: z.string(),
  policy: z.enum(["hold", "notify", "allow"]),
  trust: z.enum(["trusted", "untrusted"]),
  /** Whether it can be changed here, or only in the file it comes from. */
  isEditable: z.boolean(),
});
export type ReviewPolicy = z.infer<typeof ReviewPolicy>;
