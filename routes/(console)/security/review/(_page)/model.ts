import type { Gateway } from "../../../../../lib/gateway.ts";
import { type FormDecisions, PartialFailure } from "../../../../../lib/console/form_page.ts";
import { type Paged, paged } from "../../../../../lib/console/lists.ts";
import { formatCount } from "../../../../../lib/console/ui/format.ts";
import type { OperationCall, OutputOf } from "../../../../../lib/operations/operation.ts";
import { PACKAGE_OPERATIONS } from "../../../../../lib/operations/packages.ts";
import type { PackageUpdate } from "../../../../../lib/operations/packages_admin.ts";
import { REVIEW_OPERATIONS, type SelectedItem } from "../../../../../lib/operations/review.ts";
import {
  inDetail,
  type RawItem,
  type ReviewDecision,
  type ReviewItem,
  type ReviewPolicy,
  selectedFor,
} from "../../../../../lib/trust/review_items.ts";

const { approve, reject, revert, waive, decide, policy } = REVIEW_OPERATIONS;

/** What can be decided for several items at once. */
export const BULK = {
  approve: {
    label: "Approve",
    noun: "change",
    text:
      "Every client sees these definitions immediately. Changes already applied are marked as seen. You can revert each of them later.",
    done: "The selected changes were approved.",
  },
  reject: {
    label: "Reject",
    noun: "change",
    text:
      "Clients keep the previous version, and new tools stay hidden. You will not be asked about these definitions again.",
    done: "The selected changes were rejected.",
  },
  waive: {
    label: "Waive",
    noun: "finding",
    text:
      "Clients get these passages as the servers sent them, immediately. A passage that changes is held back again.",
    done: "The selected findings were waived.",
  },
};
const BULK_DECISIONS = Object.keys(BULK) as (keyof typeof BULK)[];

export const REVIEW_DECISIONS: FormDecisions = {
  approve: { operation: approve },
  reject: { operation: reject },
  revert: { operation: revert },
  waive: { operation: waive },
  policy: { operation: policy },
  "try-update": { operation: PACKAGE_OPERATIONS.try, done: "The update was tried." },
  "accept-update": {
    operation: PACKAGE_OPERATIONS.update,
    done: "The update runs now.",
    failure: updateFailure,
  },
  "refuse-update": { operation: PACKAGE_OPERATIONS.refuse, done: "The update was refused." },
  ...Object.fromEntries(
    Object.entries(BULK).map(([decision, { done }]) => [
      `${decision}-selected`,
      { operation: decide, defaults: { decision }, done, failure: bulkFailure },
    ]),
  ),
};

function updateFailure(
  { packages: { server }, problem }: OutputOf<typeof PACKAGE_OPERATIONS.update>,
): PartialFailure | undefined {
  if (problem === undefined) return undefined;
  return new PartialFailure("SERVER_DISCONNECTED", {
    message: `${server} was updated, but did not start: ${problem}`,
  });
}

function bulkFailure({ decided, refused }: OutputOf<typeof decide>): PartialFailure | undefined {
  const [first] = refused;
  if (first === undefined) return undefined;
  const total = decided.length + refused.length;
  return new PartialFailure("CONFLICT", {
    message: `${refused.length} of ${formatCount(total, "decision")} failed`,
    recoverySteps: refused.map(({ server, tool, rule, message }) =>
      `${server}.${tool}${rule === undefined ? "" : ` (${rule})`}: ${message}`
    ),
  });
}

export interface ReviewCard extends ReviewItem {
  id: string;
  title: string;
  effect: string;
}

export interface ReviewGroup {
  name: string;
  /** On all pages. */
  total: number;
  cards: ReviewCard[];
}

export interface PolicyRow extends ReviewPolicy {
  isHolding: boolean;
}

/** The part of the list that the URL asks for. */
interface ReviewFilter {
  q: string;
  server: string;
  tool: string;
  state: string;
  group: "server" | "reason";
}

/** A decision about several items, which the page asks about before it is made. */
export interface AskedDecision {
  decision: keyof typeof BULK;
  items: SelectedItem[];
  /** Selected, but such a decision does not apply to them. */
  skipped: number;
}

export interface ReviewPage {
  filter: ReviewFilter;
  /** Of everything that waits. */
  total: number;
  states: { state: ReviewItem["state"]; count: number }[];
  servers: string[];
  list: Paged<RawItem>;
  groups: ReviewGroup[];
  asked: AskedDecision | undefined;
  /** Newer releases of servers' packages. */
  updates: PackageUpdate[];
  /** Whether they can be tried from here. */
  canTry: boolean;
  decisions: ReviewDecision[];
  policies: Paged<PolicyRow>;
}

const ITEMS = 50;
/** The table is below what waits: nobody should have to scroll far for its end. */
const POLICIES = 10;

/** What waits for a person: filtered, grouped and by the page. */
export async function reviewPage(
  { review, packages }: {
    review: Pick<Gateway["review"], "waiting" | "decisions" | "policies">;
    packages: () => Promise<Pick<Awaited<ReturnType<Gateway["packages"]>>, "updates">>;
  },
  query = new URLSearchParams(),
  { isLocal }: Pick<OperationCall, "isLocal"> = { isLocal: false },
  form?: URLSearchParams,
): Promise<ReviewPage> {
  const filter = readFilter(query);
  const waiting = review.waiting();
  const matching = waiting.filter((item) => matches(item, filter));
  const groups = Map.groupBy(
    matching,
    (item) => filter.group === "server" ? item.server : reasonOf(item),
  );
  const list = paged([...groups.values()].flat(), query.get("page"), ITEMS);
  const shown = new Set(list.rows);
  const ids = new Map(list.rows.map((item, index) => [item, `item-${index + 1}`]));
  const holding = new Set(waiting.filter(({ state }) => state === "held").map((i) => i.server));
  return {
    filter,
    total: waiting.length,
    states: (["quarantined", "held", "notice", "flagged"] as const)
      .map((state) => ({ state, count: waiting.filter((item) => item.state === state).length })),
    servers: [...new Set(waiting.map(({ server }) => server))].sort(),
    list,
    groups: [...groups].map(([name, items]) => ({
      name,
      total: items.length,
      cards: items.filter((item) => shown.has(item)).map((item) => cardOf(item, ids.get(item)!)),
    })).filter(({ cards }) => cards.length > 0),
    asked: form && readAsked(form, waiting),
    updates: (await (await packages()).updates())
      .filter(({ server }) => filter.server === "" || server === filter.server),
    canTry: isLocal,
    decisions: await review.decisions(),
    policies: paged(
      review.policies()
        .filter(({ server }) => filter.server === "" || server === filter.server)
        .map((policy) => ({ ...policy, isHolding: holding.has(policy.server) })),
      query.get("policies"),
      POLICIES,
    ),
  };
}

function readFilter(query: URLSearchParams): ReviewFilter {
  const text = (name: string) => query.get(name)?.trim() ?? "";
  return {
    q: text("q"),
    server: text("server"),
    tool: text("tool"),
    state: text("state"),
    group: query.get("group") === "reason" ? "reason" : "server",
  };
}

function matches(item: RawItem, { q, server, tool, state }: ReviewFilter): boolean {
  const rules = item.findings.map(({ rule }) => rule).join(" ");
  return (server === "" || item.server === server) && (tool === "" || item.tool === tool) &&
    (state === "" || item.state === state) &&
    `${item.server}.${item.tool} ${rules}`.toLowerCase().includes(q.toLowerCase());
}

/** Why an item is here: the first rule that found something, or what happened. */
function reasonOf({ kind, findings: [first] }: RawItem): string {
  return kind === "finding" && first ? first.rule : TITLES[kind];
}

/** The items that a form selects, one by one or by the group, for a decision that is not made yet. */
function readAsked(form: URLSearchParams, waiting: RawItem[]): AskedDecision | undefined {
  const decision = BULK_DECISIONS.find((decision) => decision === form.get("ask"));
  if (decision === undefined) return undefined;
  const keys = new Set(form.getAll("select").flatMap((keys) => keys.split(" ")));
  const selected = waiting.filter((item) => keys.has(keyOf(item)));
  const items = selected.map((item) => selectedFor(decision, item));
  return {
    decision,
    items: items.flat(),
    skipped: items.filter((named) => named.length === 0).length,
  };
}

/** Names a definition in a form. */
export function keyOf({ server, tool, fingerprint }: ReviewItem): string {
  return [server, tool, fingerprint].map(encodeURIComponent).join("/");
}

function cardOf(item: RawItem, id: string): ReviewCard {
  return { ...inDetail(item), id, title: titleOf(item), effect: effectOf(item) };
}

const TITLES: Record<ReviewItem["kind"], string> = {
  changed: "Definition changed",
  added: "New tool",
  renamed: "Renamed",
  invalid: "No longer a valid tool",
  finding: "Something unusual",
};

function titleOf({ kind, state }: ReviewItem): string {
  if (state !== "quarantined") return TITLES[kind];
  return kind === "finding"
    ? "Looks like an attack"
    : `${TITLES[kind]}, and it looks like an attack`;
}

function effectOf({ kind, state, tool }: ReviewItem): string {
  if (state === "quarantined") {
    return tool.startsWith("(")
      ? "Clients do not see this text."
      : "Clients cannot see or call the tool.";
  }
  if (state === "flagged") {
    return "Clients see it without the passages below; a mark stands in their place.";
  }
  if (state === "notice") return "Clients already see the change.";
  return kind === "added" || kind === "renamed"
    ? "Clients do not see it until it is approved."
    : "Clients still get the previous version.";
}
