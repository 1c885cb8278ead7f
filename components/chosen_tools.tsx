import { formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { MANY_TOOLS, type PickedTool, sizeOf } from "../lib/console/ui/toolset_size.ts";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";

interface ChosenToolsProps {
  tools: readonly PickedTool[];
  onRemove(name: string): void;
}

/** What is chosen so far and what it amounts to; for the picker. */
export function ChosenTools({ tools, onRemove }: ChosenToolsProps) {
  const size = sizeOf(tools);
  return (
    <section class="picker-side" aria-labelledby="picker-chosen">
      <h2 id="picker-chosen">In this toolset</h2>
      <p class="picker-size" role="status">
        {formatCount(size.count, "tool")}
        {size.count > 0 && `, about ${formatCount(size.tokens, "token")}`}
        {!size.isCounted && " so far, counting"}
      </p>
      {size.isLarge && (
        <p class="notice tone-warn">
          <Icon name="alert" size={14} />
          <span>More than {MANY_TOOLS}: some clients, Cursor for one, leave the rest out.</span>
        </p>
      )}
      {tools.length === 0 && <p class="muted picker-none">Tick tools to put them in.</p>}
      <ul class="chosen">
        {tools.map((tool) => (
          <li key={tool.namespacedName}>
            <label class="pick">
              <input
                type="checkbox"
                name="tool"
                value={tool.namespacedName}
                checked
                onChange={(event) => {
                  const row = event.currentTarget.closest("li");
                  const next = row?.nextElementSibling ?? row?.previousElementSibling;
                  onRemove(tool.namespacedName);
                  // The row goes, and must not take the focus with it.
                  next?.querySelector("input")?.focus();
                }}
              />
              <span class="pick-text">
                <span class="mono">
                  <InertText text={tool.namespacedName} />
                </span>
                {tool.note === undefined ? null : <span class="small tone-warn">{tool.note}</span>}
              </span>
              <span class="number small muted">
                {tool.tokens === undefined ? "" : formatNumber(tool.tokens)}
              </span>
            </label>
          </li>
        ))}
      </ul>
    </section>
  );
}
