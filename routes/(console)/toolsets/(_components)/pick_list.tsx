import { formatCount, formatNumber, inertString } from "../../../../lib/console/ui/format.ts";
import {
  allowDrop,
  draggedTool,
  picked,
  type PickGroup,
  type PickQuery,
  startDrag,
  stepBetween,
  stepInto,
  type ToolPicks,
} from "../(_page)/browser.ts";
import type { FilterChoice, PickedTool } from "../../../../lib/console/ui/tools.ts";
import { InertText, Key } from "../../../../components/text.tsx";
import { Icon } from "../../../../components/icon.tsx";

interface PickListProps {
  picks: ToolPicks;
  query: PickQuery;
  chosen: ReadonlySet<string>;
  onAdd(tools: readonly PickedTool[]): void;
  onRemove(names: string[]): void;
  /** Acts on all tools that a query matches, including those not shown. */
  withAll(query: PickQuery, act: (tools: PickedTool[]) => void): void;
}

export function PickList(props: PickListProps) {
  const { picks, chosen, onRemove } = props;
  const shown = picked(picks);
  if (shown.length === 0) {
    return (
      <p class="muted picker-none" role="status">
        No matching tools. Try other search terms, or fewer filters.
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
            <GroupHead {...props} group={group} />
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
          {formatNumber(picks.total - shown.length)} more match: refine the search, or add all.
        </p>
      )}
    </>
  );
}

/** Acts on all that is found, where that is more than one server's. */
function Bulk({ picks, query, chosen, withAll, onAdd, onRemove }: PickListProps) {
  const shown = picked(picks);
  const isWhole = picks.total === shown.length;
  const isIn = isWhole
    ? shown.some(({ namespacedName }) => chosen.has(namespacedName))
    : chosen.size > 0;
  const onAll = (act: (tools: PickedTool[]) => void) => isWhole ? act(shown) : withAll(query, act);
  return (
    <div class="pick-bulk needs-js">
      <span class="small muted" role="status">{formatCount(picks.total, "tool")} found</span>
      <button type="button" class="button" onClick={() => onAll(onAdd)}>
        Add all {formatNumber(picks.total)}
      </button>
      <button
        type="button"
        class="button"
        disabled={!isIn}
        onClick={() => onAll((tools) => onRemove(tools.map((tool) => tool.namespacedName)))}
      >
        Remove them
      </button>
    </div>
  );
}

function GroupHead({ group, query, onAdd, withAll }: PickListProps & { group: PickGroup }) {
  const { server, tools, total } = group;
  return (
    <div class="pick-head">
      <h3 id={`pick-${server}`} class="mono">
        <InertText text={server} />
      </h3>
      <button
        type="button"
        class="link-button small needs-js"
        onClick={() => total === tools.length ? onAdd(tools) : withAll({ ...query, server }, onAdd)}
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
          // The list of chosen tools sends the others.
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
        <InertText as="span" class="mono" text={tool.name} />
        <InertText as="span" class="muted small" text={tool.summary} />
      </span>
      <span class="number small muted" title="Tokens">
        {tool.tokens === undefined ? "" : formatNumber(tool.tokens)}
      </span>
    </label>
  );
}

interface PickFiltersProps {
  query: PickQuery;
  servers: FilterChoice[];
  categories: FilterChoice[];
  onChange(change: Partial<PickQuery>, isTyped: boolean): void;
}

export function PickFilters({ query, servers, categories, onChange }: PickFiltersProps) {
  const selects = [
    { name: "server", label: "Server", all: "All servers", choices: servers },
    { name: "category", label: "Category", all: "All categories", choices: categories },
  ] as const;
  return (
    <div class="pick-filters needs-js">
      <div class="filter picker-search">
        <Icon name="search" size={14} />
        <input
          type="search"
          class="filter-input"
          data-filter
          aria-label="Search tools"
          aria-describedby="pick-hint"
          placeholder="What should it do? Or git.*, *read*"
          autocomplete="off"
          spellcheck={false}
          maxLength={200}
          value={query.q}
          onInput={(event) => onChange({ q: event.currentTarget.value }, true)}
          onKeyDown={(event) => {
            // Enter would send the form around it.
            if (event.key === "Enter") event.preventDefault();
            if (event.key === "ArrowDown") stepInto(event, ".pick-list");
          }}
        />
        <span class="filter-key">
          <Key name="/" />
        </span>
      </div>
      <div class="pick-selects">
        {selects.map(({ name, label, all, choices }) => (
          <select
            key={name}
            class={query[name] === "" ? "select" : "select is-set"}
            aria-label={label}
            value={query[name]}
            onChange={(event) => onChange({ [name]: event.currentTarget.value }, false)}
          >
            <option value="">{all}</option>
            {choices.map(({ value, count }) => (
              <option key={value} value={value}>
                {inertString(value)} ({formatNumber(count)})
              </option>
            ))}
          </select>
        ))}
      </div>
      <p id="pick-hint" class="hint">
        Results are ranked as for models. Use <code>*</code> as a wildcard.
      </p>
    </div>
  );
}
