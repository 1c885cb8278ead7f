import { formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { MANY_TOOLS, MOST_TOOLS, type PickedTool, sizeOf } from "../lib/console/ui/toolset_size.ts";
import { Icon } from "./icon.tsx";

/** What the choice amounts to, against the line that some clients draw. */
export function ChosenSize(
  { tools, onClear }: { tools: readonly PickedTool[]; onClear(): void },
) {
  const { count, tokens, isCounted, isLarge, isTooLarge } = sizeOf(tools);
  return (
    <>
      <div class="chosen-size">
        <p class="picker-size" role="status">
          {formatCount(count, "tool")}
          {count > 0 && `, about ${formatCount(tokens, "token")}`}
          {!isCounted && " so far, counting"}
        </p>
        {count > 0 && (
          <button type="button" class="link-button small needs-js" onClick={onClear}>
            Take all out
          </button>
        )}
      </div>
      <Gauge count={count} />
      {isTooLarge
        ? (
          <p class="notice tone-bad">
            <Icon name="error" size={14} />
            <span>A toolset holds at most {formatNumber(MOST_TOOLS)} tools. Take some out.</span>
          </p>
        )
        : isLarge && (
          <p class="notice tone-warn">
            <Icon name="alert" size={14} />
            <span>More than {MANY_TOOLS}: some clients, Cursor for one, leave the rest out.</span>
          </p>
        )}
    </>
  );
}

const WIDTH = 200;

/** The count as a bar, with the line at 40. */
function Gauge({ count }: { count: number }) {
  const whole = Math.max(MANY_TOOLS * 1.25, count);
  const at = (value: number) => Math.round(value / whole * WIDTH);
  return (
    <div class="gauge">
      <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" height="10" aria-hidden="true">
        <rect class="bar-track" y="2" width={WIDTH} height="6" />
        <rect class="bar-fill" y="2" width={at(Math.min(count, MANY_TOOLS))} height="6" />
        {count > MANY_TOOLS && (
          <rect
            class="gauge-over"
            x={at(MANY_TOOLS)}
            y="2"
            width={WIDTH - at(MANY_TOOLS)}
            height="6"
          />
        )}
        <rect class="gauge-line" x={at(MANY_TOOLS) - 1} width="2" height="10" />
      </svg>
      <p class="small muted">
        {count > MANY_TOOLS
          ? `${formatNumber(count - MANY_TOOLS)} beyond the line of ${MANY_TOOLS}`
          : `${MANY_TOOLS - count} left to the line of ${MANY_TOOLS}`}
      </p>
    </div>
  );
}
