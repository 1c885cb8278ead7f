import type { Gateway } from "../../../../../lib/gateway.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import type { FormError } from "../../../../../lib/console/errors.ts";
import { type Paged, paged } from "../../../../../lib/console/lists.ts";
import { readTexts } from "../../../../../lib/operations/fields.ts";
import {
  type Operation,
  type OperationCall,
  runOperation,
} from "../../../../../lib/operations/operation.ts";
import { REVIEW_OPERATIONS } from "../../../../../lib/operations/review.ts";
import type { Services } from "../../../../../lib/operations/services.ts";
import type {
  ReviewDecision,
  ReviewItem,
  ReviewPolicy,
} from "../../../../../lib/trust/review_items.ts";

/** What the page's forms do. */
const FORM_OPERATIONS: Record<string, Operation> = {
  approve: REVIEW_OPERATIONS.approve,
  reject: REVIEW_OPERATIONS.reject,
  revert: REVIEW_OPERATIONS.revert,
  waive: REVIEW_OPERATIONS.waive,
  policy: REVIEW_OPERATIONS.policy,
};

export async function decideByForm(
  gateway: Services,
  form: URLSearchParams,
  call: OperationCall,
): Promise<void> {
  const { action = "", ...fields } = Object.fromEntries(form);
  const operation = Object.hasOwn(FORM_OPERATIONS, action) ? FORM_OPERATIONS[action] : undefined;
  if (!operation) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "The form does not say what to do",
      recoveryAction: "Load the page again",
    });
  }
  const input = readTexts(operation.input, Object.entries(fields));
  await runOperation(operation, gateway, input, call);
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
      return "It is not a valid tool anymore";
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
  if (state === "flagged") return "Clients still see it.";
  if (state === "notice") return "The change was passed on to clients.";
  return kind === "added" || kind === "renamed"
    ? "No client sees it until it is approved."
    : "Clients go on with the version they know.";
}
