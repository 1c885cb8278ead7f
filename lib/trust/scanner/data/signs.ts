import { POINTS } from "./weights.ts";
import { DECEIT, TOOLS_OF_OTHERS } from "./signs_deceit.ts";
import { GOODS } from "./signs_goods.ts";
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

/** A sign as it is written down; its points are learned. */
export type Described = Omit<Sign, "points">;

/** All signs with their points; one that the trainer has not seen counts as the lightest do. */
export const SIGNS: readonly Sign[] = [...ORDERS, ...GOODS, ...HARM, ...DECEIT, ...TOOLS_OF_OTHERS]
  .map((sign) => ({
    ...sign,
    points: POINTS.get(sign.id) ?? 0.5,
  }));
