import type { FilterChoice } from "../lib/console/ui/filter_choice.ts";
import { formatNumber } from "../lib/console/ui/format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { stepInto } from "../lib/console/ui/pick_focus.ts";
import type { PickQuery } from "../lib/console/ui/tool_picks.ts";
import { Icon } from "./icon.tsx";
import { Key } from "./key.tsx";

interface PickFiltersProps {
  query: PickQuery;
  servers: FilterChoice[];
  categories: FilterChoice[];
  onChange(change: Partial<PickQuery>, isTyped: boolean): void;
}

/** Words or a pattern, a server, a category: what the list to pick from shows. */
export function PickFilters({ query, servers, categories, onChange }: PickFiltersProps) {
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
        <Choice
          label="Server"
          all="All servers"
          value={query.server}
          choices={servers}
          onChoose={(server) => onChange({ server }, false)}
        />
        <Choice
          label="Category"
          all="All categories"
          value={query.category}
          choices={categories}
          onChoose={(category) => onChange({ category }, false)}
        />
      </div>
      <p id="pick-hint" class="hint">
        Words are ranked as for a model. In a pattern <code>*</code> stands for any letters.
      </p>
    </div>
  );
}

interface ChoiceProps {
  label: string;
  all: string;
  value: string;
  choices: FilterChoice[];
  onChoose(value: string): void;
}

function Choice({ label, all, value, choices, onChoose }: ChoiceProps) {
  return (
    <select
      class={value === "" ? "select" : "select is-set"}
      aria-label={label}
      value={value}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      <option value="">{all}</option>
      {choices.map(({ value, count }) => (
        <option key={value} value={value}>{inertString(value)} ({formatNumber(count)})</option>
      ))}
    </select>
  );
}
