import type { ComponentChildren } from "preact";
import { formatNumber, inertString } from "../lib/console/ui/format.ts";
import { reviewPath } from "../lib/console/ui/pages.ts";
import { TOOL_WAITS, type ToolWait } from "../lib/console/ui/tools.ts";
import { Icon, type IconName } from "./icon.tsx";

export type Tone = "ok" | "warn" | "bad" | "info" | "quiet";

/** How something stands: always an icon and a word, never color alone. */
export function StateLabel(
  { tone, icon, children }: { tone: Tone; icon: IconName; children: ComponentChildren },
) {
  return (
    <span class={`state tone-${tone}`}>
      <Icon name={icon} size={14} />
      {children}
    </span>
  );
}

interface TokensChipProps {
  tokens: number | undefined;
  /** After the number. */
  unit?: string;
  title?: string;
}

const COST = "About what a model reads when it is listed, an estimate";

/** What something costs or saves, everywhere in the same form. */
export function TokensChip({ tokens, unit = "tokens", title = COST }: TokensChipProps) {
  return (
    <span class="tokens" title={title}>
      {tokens === undefined ? "counting" : `${formatNumber(tokens)} ${unit}`}
    </span>
  );
}

interface WaitBadgeProps {
  server: string;
  tool: string;
  wait: ToolWait | undefined;
}

/** Why clients do not get a tool as it is, with the way to where that is decided. */
export function WaitBadge({ server, tool, wait }: WaitBadgeProps) {
  if (wait === undefined) return null;
  const { word, meaning, tone } = TOOL_WAITS[wait];
  return (
    <a
      class={`badge wait-badge above tone-${tone}`}
      href={reviewPath(server, tool)}
      title={meaning}
    >
      {word} <span class="visually-hidden">(review {inertString(`${server}.${tool}`)})</span>
    </a>
  );
}

/** A share of a whole, drawn; the number stands beside it. */
export function Bar({ share, width = 48 }: { share: number; width?: number }) {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return (
    <svg class="bar" width={width} height="6" viewBox={`0 0 ${width} 6`} aria-hidden="true">
      <rect class="bar-track" width={width} height="6" rx="3" />
      <rect class="bar-fill" width={filled} height="6" rx="3" />
    </svg>
  );
}
