import { formatNumber } from "../lib/console/ui/format.ts";

interface TokensChipProps {
  tokens: number | undefined;
  /** What follows the number, where it is more than a cost. */
  words?: string;
  title?: string;
}

const COST = "About what a model reads when it is listed, an estimate";

/** What something costs or saves, everywhere in the same form. */
export function TokensChip({ tokens, words = "tokens", title = COST }: TokensChipProps) {
  return (
    <span class="tokens" title={title}>
      {tokens === undefined ? "counting" : `${formatNumber(tokens)} ${words}`}
    </span>
  );
}
