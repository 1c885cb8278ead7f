import type { Gateway } from "../compose.ts";
import { EVERYONE } from "../core/principal.ts";

const COUNT_MS = 500;

/** Waits for what is quickly counted; thousands of new tools take longer, and a page does not. */
export async function countSoon(
  { guide, tokens }: Pick<Gateway, "guide" | "tokens">,
  limitMs = COUNT_MS,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  const counted = tokens.prepare(guide.visible(EVERYONE, true)).catch(() => {});
  await Promise.race([counted, promise]);
  clearTimeout(timer);
}
