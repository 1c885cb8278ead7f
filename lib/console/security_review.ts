import { z } from "zod";
import type { Gateway } from "../compose.ts";
import type { AuditAsker } from "../core/audit.ts";
import { GatewayError } from "../core/errors.ts";
import { ChangePolicy, ServerTrust } from "../core/server.ts";
import type { FormError } from "./form_error.ts";
import { type Paged, paged } from "./paging.ts";
import type { ReviewDecision, ReviewItem, ReviewPolicy } from "../surfaces/review_item.ts";

type WithReview = Pick<Gateway, "review">;

const named = { server: z.string().min(1), tool: z.string().min(1) };
const exact = { ...named, fingerprint: z.string().min(1) };

/** What a person can do about an item, as forms, the API and the command line send it. */
export const ReviewAction = z.discriminatedUnion("action", [
  z.object({ action: z.literal("approve"), ...exact }),
  z.object({ action: z.literal("reject"), ...exact }),
  z.object({ action: z.literal("revert"), ...named }),
  z.object({ action: z.literal("waive"), ...exact, rule: z.string().min(1), reason: z.string() }),
  z.object({ action: z.literal("unwaive"), ...named, rule: z.string().min(1) }),
  z.object({
    action: z.literal("policy"),
    server: z.string().min(1),
    changes: ChangePolicy.optional(),
    trust: ServerTrust.optional(),
  }),
]);
export type ReviewAction = z.infer<typeof ReviewAction>;

/** Reads what was sent; throws where it is nothing that can be done. */
export function readReviewAction(input: Record<string, unknown>): ReviewAction {
  const parsed = ReviewAction.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot decide: ${issue?.path.join(".") || "action"}: ${issue?.message}`,
    recoverySteps: ["Load the list again, and send what it says"],
  });
}

/** Does it, and says in a sentence what was done. */
export async function decide(
  { review }: WithReview,
  action: ReviewAction,
  by: AuditAsker,
): Promise<string> {
  switch (action.action) {
    case "approve":
      await review.approve(action, by);
      return `Approved ${action.tool} of ${action.server}`;
    case "reject":
      await review.reject(action, by);
      return `Rejected ${action.tool} of ${action.server}`;
    case "revert":
      await review.revert(action.server, action.tool, by);
      return `Reverted ${action.tool} of ${action.server}`;
    case "waive":
      await review.waive(action, by);
      return `Waived ${action.rule} for ${action.tool} of ${action.server}`;
    case "unwaive":
      await review.unwaive(action.server, action.tool, action.rule, by);
      return `${action.rule} counts again for ${action.tool} of ${action.server}`;
    case "policy": {
      const { policy } = await review.setPolicy(action.server, action, by);
      return `Changes of ${action.server}: ${policy}`;
    }
  }
}

/** An item with what can be done about it, and what that means. */
export interface ReviewCard extends ReviewItem {
  /** For fragments and popovers. */
  id: string;
  /** What happened, in words. */
  title: string;
  /** What clients get, in words. */
  effect: string;
}

export interface PolicyRow extends ReviewPolicy {
  /** Whether anything of the server is held back. */
  isHolding: boolean;
}

export interface ReviewPage {
  /** The server, or the tool of it, that the address asks for alone. */
  only?: { server: string; tool?: string };
  /** Why what was asked for last was not done. */
  refused?: FormError;
  cards: ReviewCard[];
  more: number;
  decisions: ReviewDecision[];
  policies: Paged<PolicyRow>;
}

/** The table is below what waits: nobody should have to scroll far for its end. */
const POLICIES = 50;

/** The page of what waits for a person: `?server=&tool=` for what is about these alone. */
export async function reviewPage(
  { review }: {
    review: Pick<Gateway["review"], "list" | "show" | "waiting" | "decisions" | "policies">;
  },
  query = new URLSearchParams(),
): Promise<ReviewPage> {
  const only = readOnly(query);
  const { items, more } = only?.tool === undefined
    ? review.list(only?.server)
    : { items: itemsOf(review, only.server, only.tool), more: 0 };
  const held = review.waiting().filter(({ state }) => state === "held");
  const holding = new Set(held.map(({ server }) => server));
  const withHolding = (policy: ReviewPolicy): PolicyRow => ({
    ...policy,
    isHolding: holding.has(policy.server),
  });
  const policies = paged(
    review.policies().filter(({ server }) => only === undefined || server === only.server),
    query.get("page"),
    POLICIES,
  );
  return {
    ...(only === undefined ? {} : { only }),
    cards: items.map((item, index) => ({
      ...item,
      id: `item-${index + 1}`,
      title: titleOf(item),
      effect: effectOf(item),
    })),
    more,
    decisions: await review.decisions(),
    policies: { ...policies, rows: policies.rows.map(withHolding) },
  };
}

function readOnly(query: URLSearchParams): ReviewPage["only"] {
  const [server, tool] = [query.get("server"), query.get("tool")];
  return server ? { server, ...(tool ? { tool } : {}) } : undefined;
}

function itemsOf(
  review: Pick<Gateway["review"], "show">,
  server: string,
  tool: string,
): ReviewItem[] {
  try {
    return review.show(server, tool).filter(({ state }) => state !== "rejected");
  } catch (error) {
    if (error instanceof GatewayError && error.code === "SERVER_NOT_FOUND") return [];
    throw error;
  }
}

function titleOf({ kind, state }: ReviewItem): string {
  switch (kind) {
    case "changed":
      return "Its definition has changed";
    case "added":
      return "It was added";
    case "renamed":
      return "It has another name";
    case "invalid":
      return "It is no valid tool any more";
    case "finding":
      return state === "quarantined" ? "It looks like an attack" : "Something in it is unusual";
  }
}

function effectOf({ kind, state, tool }: ReviewItem): string {
  if (state === "quarantined") {
    return tool.startsWith("(")
      ? "No client is given this text."
      : "No client sees the tool or can call it.";
  }
  if (state === "flagged") return "Clients see it all the same.";
  if (state === "notice") return "The change was passed on to clients.";
  return kind === "added" || kind === "renamed"
    ? "No client sees it until it is approved."
    : "Clients go on with the version they know.";
}
