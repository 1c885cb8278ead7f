import { POINTS } from "./weights.ts";
import { DECEIT, TOOLS_OF_OTHERS } from "./signs_deceit.ts";
import { GOODS } from "./signs_goods.ts";
import { INDIRECT } from "./signs_indirect.ts";
import { HARM } from "./signs_harm.ts";
import { ORDERS } from "./signs_orders.ts";

/**
 * A sign is ordinary by itself: tools send, read, and speak of passwords. What no honest text needs
 * is several of them close together, so each has points, and a passage with enough is found.
 * Phrases are written as in phrases.ts; the words of other languages are in languages.ts.
 */
export interface Sign {
  id: string;
  /** Learned; see weights.ts. */
  points: number;
  /** What the sign says of a passage, after "It". */
  says: string;
  /** The rule that a passage falls under where this sign is its gravest. */
  rule: string;
  phrases: readonly string[];
  /** Not counted where it is denied: "never stores your password". */
  unlessDenied?: true;
  /** Not counted where the tool is about just that, by its name. */
  isObject?: true;
  /** Honest authors boast too: a passage of which this is the gravest sign is a warning at most. */
  isMild?: true;
  /** Counted in parameters only, where asking for a thing needs no verb. */
  inParameters?: true;
}

/** A sign as it is written down; the points of its phrases are learned. */
export type Described = Omit<Sign, "points">;

export const DESCRIBED: readonly Described[] = [
  ...ORDERS,
  ...GOODS,
  ...HARM,
  ...DECEIT,
  ...TOOLS_OF_OTHERS,
  ...INDIRECT,
];

/** Each phrase of a sign with its points; one that the trainer has not seen has none. */
export const SIGNS: readonly Sign[] = DESCRIBED.flatMap((sign) => {
  const points = POINTS.get(sign.id)?.split(" ").map(Number) ?? [];
  return sign.phrases.map((phrase, i) => ({
    ...sign,
    id: `${sign.id} ${i}`,
    phrases: [phrase],
    points: points[i] ?? 0,
  }));
});
