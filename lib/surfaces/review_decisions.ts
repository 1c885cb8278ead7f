import type { ServerPins } from "../storage/pins_repository.ts";
import type { ServerReviews } from "../storage/reviews_repository.ts";
import type { ReviewDecision } from "./review_item.ts";

/** What was decided of one server's tools. */
export function decisionsOf(
  { server, rejected, waivers }: ServerReviews,
  pins: ServerPins | undefined,
): ReviewDecision[] {
  const reverted = new Set(
    pins?.tools.filter(({ isKept }) => isKept).map(({ name }) => name),
  );
  return [
    ...(pins?.tools ?? []).flatMap(({ name, fingerprint, pinnedAt, by, isKept }) =>
      by === undefined || isKept ? [] : [{
        server,
        tool: name,
        kind: "approved" as const,
        fingerprint,
        at: pinnedAt,
        by,
        isRevertible: true,
      }]
    ),
    ...rejected.map(({ tool, fingerprint, at, by }) => ({
      server,
      tool,
      kind: reverted.has(tool) ? "reverted" as const : "rejected" as const,
      fingerprint,
      at,
      ...(by === undefined ? {} : { by }),
      isRevertible: false,
    })),
    ...waivers.map(({ tool, rule, fingerprint, reason, at, by }) => ({
      server,
      tool,
      kind: "waived" as const,
      fingerprint,
      at,
      ...(by === undefined ? {} : { by }),
      rule,
      reason,
      isRevertible: false,
    })),
  ];
}
