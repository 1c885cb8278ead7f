/**
 * A sign is ordinary by itself: tools send, read, and speak of passwords. What no honest text needs
 * is several of them close together, so each has points, and a passage with enough is found.
 * Phrases are written as in phrases.ts; the words of other languages are in languages.ts.
 */
export interface Sign {
  id: string;
  /** Learned, see register.ts. */
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
  /** Counted in parameters only, where asking for a thing needs no verb. */
  inParameters?: true;
}

/** A sign as it is written down; its points are learned. */
export type Described = Omit<Sign, "points">;
