import type {
  PinnedTool,
  ServerPins,
  ServerReviews,
  Waiver,
} from "../storage/reviews_repository.ts";
import type { ReviewEdit } from "./review_state.ts";

/** Who decided where nobody else is named. */
export const DEFAULT_REVIEWER = "owner";

interface Approval {
  tool: string;
  /** Its name before, where it has another. */
  from?: string | undefined;
  text: string;
  fingerprint: string;
  by: string | undefined;
  at: number;
}

/** Serves a definition that was held; where nothing else is, it follows its server again. */
export function approved(
  reviews: ServerReviews,
  pins: ServerPins,
  { tool, from, text, fingerprint, by = DEFAULT_REVIEWER, at }: Approval,
  isHolding: boolean,
): ReviewEdit {
  const old = pins.tools.find(({ name }) => name === tool);
  const others = pins.tools.filter(({ name }) => name !== tool && name !== from);
  const pin: PinnedTool = {
    name: tool,
    text,
    fingerprint,
    pinnedAt: at,
    by,
    ...(old ? { before: { text: old.text, fingerprint: old.fingerprint } } : {}),
  };
  return {
    reviews: decided(reviews, tool),
    pins: { ...pins, tools: isHolding ? [...others, pin] : others },
  };
}

/** What was passed on has been seen. */
export function decided(reviews: ServerReviews, tool: string): ServerReviews {
  return {
    ...reviews,
    notices: reviews.notices.filter((notice) => notice.tool !== tool),
    rejected: reviews.rejected.filter((each) => each.tool !== tool),
  };
}

interface Rejection {
  tool: string;
  fingerprint: string;
  by: string | undefined;
  at: number;
  /** What is served from here on in its place. */
  keep?: { text: string; fingerprint: string } | undefined;
  /** There is nothing to serve in its place: no version of it is shown. */
  isHidden: boolean;
}

/** Does not serve a definition, and does not ask about it again. */
export function turnedDown(
  reviews: ServerReviews,
  pins: ServerPins,
  { tool, fingerprint, by = DEFAULT_REVIEWER, at, keep, isHidden }: Rejection,
): ReviewEdit {
  const others = pins.tools.filter(({ name }) => name !== tool);
  const isPinned = others.length < pins.tools.length;
  const kept: PinnedTool[] = keep ? [{ name: tool, ...keep, pinnedAt: at, by, isKept: true }] : [];
  return {
    reviews: {
      ...reviews,
      notices: reviews.notices.filter((notice) => notice.tool !== tool),
      rejected: [
        ...reviews.rejected.filter((each) =>
          each.tool !== tool ||
          (each.fingerprint !== fingerprint && each.fingerprint !== keep?.fingerprint)
        ),
        { tool, fingerprint, ...(isHidden ? { isHidden } : {}), at, by },
      ],
    },
    ...(keep || (isHidden && isPinned) ? { pins: { ...pins, tools: [...others, ...kept] } } : {}),
  };
}

export function waived(reviews: ServerReviews, waiver: Waiver): ServerReviews {
  const { tool, rule, fingerprint } = waiver;
  const others = reviews.waivers.filter((each) =>
    each.tool !== tool || each.rule !== rule || each.fingerprint !== fingerprint
  );
  return { ...reviews, waivers: [...others, waiver] };
}

export function unwaived(reviews: ServerReviews, tool: string, rule: string): ServerReviews {
  const waivers = reviews.waivers.filter((each) => each.tool !== tool || each.rule !== rule);
  return { ...reviews, waivers };
}
