import type { Gateway } from "../../../../../lib/gateway.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import type { FormDecisions } from "../../../../../lib/console/form_page.ts";
import { type Paged, paged } from "../../../../../lib/console/lists.ts";
import { REVIEW_OPERATIONS } from "../../../../../lib/operations/review.ts";
import type {
  ReviewDecision,
  ReviewItem,
  ReviewPolicy,
} from "../../../../../lib/trust/review_items.ts";

const { approve, reject, revert, waive, policy } = REVIEW_OPERATIONS;

export const REVIEW_DECISIONS: FormDecisions = {
  approve: { operation: approve },
  reject: { operation: reject },
  revert: { operation: revert },
  waive: { operation: waive },
  policy: { operation: policy },
};

export interface ReviewCard extends ReviewItem {
  id: string;
  title: string;
  effect: string;
}

export interface PolicyRow extends ReviewPolicy {
  isHolding: boolean;
}

export interface ReviewPage {
  /** The server, or the tool of it, that the address asks for alone. */
  only: { server: string; tool?: string | undefined } | undefined;
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
  const policies = review.policies()
    .filter(({ server }) => only === undefined || server === only.server)
    .map((policy) => ({ ...policy, isHolding: holding.has(policy.server) }));
  return {
    only,
    cards: items.map((item, index) => ({
      ...item,
      id: `item-${index + 1}`,
      title: titleOf(item),
      effect: effectOf(item),
    })),
    more,
    decisions: await review.decisions(),
    policies: paged(policies, query.get("page"), POLICIES),
  };
}

function readOnly(query: URLSearchParams): ReviewPage["only"] {
  const [server, tool] = [query.get("server"), query.get("tool")];
  return server ? { server, tool: tool || undefined } : undefined;
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

const TITLES: Record<ReviewItem["kind"], string> = {
  changed: "Its definition has changed",
  added: "It was added",
  renamed: "It has another name",
  invalid: "It is not a valid tool anymore",
  finding: "Something in it is unusual",
};

function titleOf({ kind, state }: ReviewItem): string {
  return kind === "finding" && state === "quarantined" ? "It looks like an attack" : TITLES[kind];
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
