import { formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { allowDrop, draggedTool, startDrag, stepBetween } from "../lib/console/ui/pick_focus.ts";
import {
  picked,
  type PickGroup,
  type PickQuery,
  type ToolPicks,
} from "../lib/console/ui/tool_picks.ts";
import type { PickedTool } from "../lib/console/ui/toolset_size.ts";
import { InertText } from "./inert_text.tsx";

interface PickListProps {
  picks: ToolPicks;
  query: PickQuery;
  chosen: ReadonlySet<string>;
  onAdd(tools: readonly PickedTool[]): void;
  onRemove(names: string[]): void;
  /** All that a query means, also what is not shown. */
  onAddAll(query: PickQuery): void;
  onRemoveAll(query: PickQuery): void;
}

/** Tools to tick or drag, by server; for the picker. */
export function PickList(props: PickListProps) {
  const { picks, query, chosen, onRemove } = props;
  const shown = picked(picks);
  if (shown.length === 0) {
    return (
      <p class="muted picker-none" role="status">
        No tool is found. Try other words, or a wider filter.
      </p>
    );
  }
  return (
    <>
      <Bulk {...props} />
      <div
        class="pick-list"
        onDragOver={allowDrop}
        onDrop={(event) => {
          const name = draggedTool(event);
          if (name !== undefined) onRemove([name]);
        }}
      >
        {picks.groups.map((group) => (
          <div
            key={group.server}
            class="pick-group"
            role="group"
            aria-labelledby={`pick-${group.server}`}
          >
            <GroupHead {...props} group={group} query={query} />
            {group.tools.map((tool) => (
              <Pick
                key={tool.namespacedName}
                {...props}
                tool={tool}
                isChosen={chosen.has(tool.namespacedName)}
              />
            ))}
          </div>
        ))}
      </div>
      {picks.total > shown.length && (
        <p class="muted small">
          {formatNumber(picks.total - shown.length)}{" "}
          more are found by searching, or added all at once.
        </p>
      )}
    </>
  );
}

/** Acts on all that is found, where that is more than one server's. */
function Bulk({ picks, query, chosen, onAddAll, onRemoveAll, onAdd, onRemove }: PickListProps) {
  const shown = picked(picks);
  const isWhole = picks.total === shown.length;
  const isIn = isWhole
    ? shown.some(({ namespacedName }) => chosen.has(namespacedName))
    : chosen.size > 0;
  return (
    <div class="pick-bulk needs-js">
      <span class="small muted" role="status">{formatCount(picks.total, "tool")} found</span>
      <button
        type="button"
        class="button"
        onClick={() => isWhole ? onAdd(shown) : onAddAll(query)}
      >
        Add all {formatNumber(picks.total)}
      </button>
      <button
        type="button"
        class="button"
        disabled={!isIn}
        onClick={() =>
          isWhole
            ? onRemove(shown.map(({ namespacedName }) => namespacedName))
            : onRemoveAll(query)}
      >
        Take them out
      </button>
    </div>
  );
}

function GroupHead(
  { group, query, onAdd, onAddAll }: PickListProps & { group: PickGroup },
) {
  const { server, tools, total } = group;
  return (
    <div class="pick-head">
      <h3 id={`pick-${server}`} class="mono">
        <InertText text={server} />
      </h3>
      <button
        type="button"
        class="link-button small needs-js"
        onClick={() => total === tools.length ? onAdd(tools) : onAddAll({ ...query, server })}
      >
        Choose all {formatNumber(total)} {total === tools.length && "shown "}
        <span class="visually-hidden">of {server}</span>
      </button>
    </div>
  );
}

function Pick(
  { tool, isChosen, onAdd, onRemove }: PickListProps & { tool: PickedTool; isChosen: boolean },
) {
  const toggle = (isOn: boolean) => isOn ? onAdd([tool]) : onRemove([tool.namespacedName]);
  return (
    <label
      class="pick"
      draggable
      onDragStart={(event) => startDrag(event, tool.namespacedName)}
    >
      <input
        type="checkbox"
        {
          // What is chosen is sent by the list of chosen ones.
          ...(isChosen ? {} : { name: "add" })
        }
        value={tool.namespacedName}
        checked={isChosen}
        onChange={(event) => toggle(event.currentTarget.checked)}
        onKeyDown={(event) => {
          stepBetween(event, event.currentTarget);
          if (event.key !== "Enter") return;
          // It would send the form around it.
          event.preventDefault();
          toggle(!isChosen);
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
}
