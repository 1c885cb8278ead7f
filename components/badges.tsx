import type { ComponentChildren } from "preact";
import { formatNumber, inertString } from "../lib/console/ui/format.ts";
import { reviewPath } from "../lib/console/ui/pages.ts";
import { TOOL_WAITS, type ToolWait } from "../lib/console/ui/tools.ts";
import { Icon, type IconName } from "./icon.tsx";

export type Tone = "ok" | "warn" | "bad" | "info" | "quiet" | "accent";

interface LabelProps {
  tone?: Tone;
  icon?: IconName;
  class?: string;
  title?: string | undefined;
  children: ComponentChildren;
}

/** How something stands: always an icon and a word, never color alone. */
export function StateLabel({ tone = "quiet", icon, class: more, title, children }: LabelProps) {
  return (
    <span class={`state tone-${tone}${more ? ` ${more}` : ""}`} title={title}>
      {icon && <Icon name={icon} size={14} />}
      {children}
    </span>
  );
}

export function Badge({ tone, icon, title, children }: Omit<LabelProps, "class">) {
  return (
    <span class={tone ? `badge tone-${tone}` : "badge"} title={title}>
      {icon && <Icon name={icon} size={12} />}
      {children}
    </span>
  );
}

interface TokensChipProps {
  tokens: number | undefined;
  unit?: string;
  title?: string;
}

const COST = "Estimated tokens a model reads when this is listed";

export function TokensChip({ tokens, unit = "tokens", title = COST }: TokensChipProps) {
  return (
    <span class="tokens" title={title}>
      {tokens === undefined ? "counting" : `${formatNumber(tokens)} ${unit}`}
    </span>
  );
}

/** Why clients do not get a tool as it is, with the way to where that is decided. */
export function WaitBadge(
  { server, tool, wait }: { server: string; tool: string; wait: ToolWait | undefined },
) {
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

/** Calls over time in little room, errors at their feet; the numbers stand beside it. */
export function Sparkline({ points }: { points: readonly { calls: number; errors: number }[] }) {
  const most = Math.max(1, ...points.map(({ calls }) => calls));
  const bar = (value: number, index: number, name: string) => {
    const height = value === 0 ? 1 : Math.max(3, value / most * 24);
    return (
      <rect
        key={index}
        class={name}
        x={index * 4}
        y={24 - height}
        width="3"
        height={height}
      />
    );
  };
  return (
    <svg
      class="sparkline"
      width={points.length * 4}
      height="24"
      viewBox={`0 0 ${points.length * 4} 24`}
      aria-hidden="true"
    >
      {points.map(({ calls }, index) =>
        bar(calls, index, calls === 0 ? "bar-track" : "spark-calls")
      )}
      {points.map(({ errors }, index) => errors > 0 && bar(errors, index, "chart-errors"))}
    </svg>
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
