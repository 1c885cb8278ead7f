import type { PickedTool } from "../lib/console/ui/toolset_size.ts";
import { formatNumber } from "../lib/console/ui/format.ts";
import { InertText } from "./inert_text.tsx";

interface PickListProps {
  tools: readonly PickedTool[];
  chosen: ReadonlySet<string>;
  onAdd(tools: readonly PickedTool[]): void;
  onRemove(name: string): void;
}

/** Tools to tick, by server; for the picker. */
export function PickList({ tools, chosen, onAdd, onRemove }: PickListProps) {
  if (tools.length === 0) {
    return <p class="muted picker-none" role="status">No tool is found. Try other words.</p>;
  }
  const groups = [...Map.groupBy(tools, (tool) => tool.server)];
  return (
    <div class="pick-list">
      {groups.map(([server, tools]) => (
        <div key={server} class="pick-group" role="group" aria-labelledby={`pick-${server}`}>
          <div class="pick-head">
            <h3 id={`pick-${server}`} class="mono">
              <InertText text={server} />
            </h3>
            <button
              type="button"
              class="link-button small needs-js"
              onClick={() =>
                onAdd(tools)}
            >
              Choose all {tools.length} shown <span class="visually-hidden">of {server}</span>
            </button>
          </div>
          {tools.map((tool) => {
            const isChosen = chosen.has(tool.namespacedName);
            return (
              <label key={tool.namespacedName} class="pick">
                <input
                  type="checkbox"
                  {
                    // What is chosen is sent by the list of chosen ones.
                    ...(isChosen ? {} : { name: "tool" })
                  }
                  value={tool.namespacedName}
                  checked={isChosen}
                  onChange={(event) => {
                    if (event.currentTarget.checked) onAdd([tool]);
                    else onRemove(tool.namespacedName);
                  }}
                />
                <span class="pick-text">
                  <span class="mono">
                    <InertText text={tool.name} />
                  </span>
                  <span class="muted small">
                    <InertText text={tool.summary} />
                  </span>
                </span>
                <span class="number small muted">
                  {tool.tokens === undefined ? "" : formatNumber(tool.tokens)}
                </span>
              </label>
            );
          })}
        </div>
      ))}
    </div>
  );
}
