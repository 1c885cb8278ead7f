import type { Gateway } from "../compose.ts";

/** How many things of each kind wait for a person. */
export interface WaitingCounts {
  review: number;
  approvals: number;
  consents: number;
}

export type WaitingGateway = Pick<Gateway, "review" | "approvals" | "consents">;

/** Cheap enough for every page; a store that fails says so itself, there too. */
export async function waitingCounts(gateway: WaitingGateway): Promise<WaitingCounts> {
  const [approvals, consents] = await Promise.all([
    gateway.approvals().then((waiting) => waiting.list().length),
    gateway.consents().then((waiting) => waiting.count()).catch(() => 0),
  ]);
  return { review: gateway.review.count().total, approvals, consents };
}

export function totalWaiting({ review, approvals, consents }: WaitingCounts): number {
  return review + approvals + consents;
}
