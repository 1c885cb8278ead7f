import { PostForm, SelectOptions } from "../../../../components/forms.tsx";
import { EmptyState } from "../../../../components/states.tsx";
import { DataTable } from "../../../../components/tables.tsx";
import { CodeBlock } from "../../../../components/text.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { Badge } from "../../../../components/badges.tsx";
import { FilterField } from "../../../../islands/forms.tsx";
import { withQuery } from "../../../../lib/console/lists.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import type { ShownOption } from "../../../../lib/operations/settings.ts";
import type { SettingsPage } from "../(_page)/model.ts";

const PATH = "/settings";

const CHIPS = [["", "all", "All"], ["set", "set", "Changed"], [
  "live",
  "live",
  "Editable",
]] as const;

/** Every option by subject: its value, where it was set, and how to set it. */
export function OptionGroups(
  { page: { filter, counts, groups }, url }: { page: SettingsPage; url: URL },
) {
  const here = withQuery(url, { done: undefined });
  const isFiltered = filter.q !== "" || filter.only !== "";
  return (
    <section class="stack" aria-labelledby="options-title" id="options">
      <h2 id="options-title">Options</h2>
      <div class="toolbar">
        <FilterField
          action={`${PATH}#options`}
          value={filter.q}
          label="Filter options"
          hidden={filter.only === "" ? {} : { only: filter.only }}
        />
        <nav class="filters" aria-label="Options">
          {CHIPS.map(([only, count, label]) => (
            <a
              key={only}
              class="filter-chip"
              href={`${withQuery(url, { only, done: undefined })}#options`}
              aria-current={filter.only === only ? "true" : "false"}
            >
              {label} <span class="filter-count">{counts[count]}</span>
            </a>
          ))}
        </nav>
      </div>
      {groups.length === 0 && (
        <EmptyState
          icon="search"
          title="No matching options"
          actions={<a class="button" href={`${PATH}#options`}>Show all options</a>}
        >
          The filter searches flags, variables, keys and descriptions.
        </EmptyState>
      )}
      {groups.map(({ name, options }) => {
        const set = options.filter(({ origin }) => origin !== "default").length;
        return (
          <details
            key={name}
            class="card card-flush"
            open={isFiltered || options.some(({ isLive }) => isLive)}
          >
            <summary class="card-head">
              <Icon name="chevronRight" size={12} />
              <h3>{name}</h3>
              <span class="card-aside">
                {formatCount(options.length, "option")}
                {set > 0 ? `, ${set} changed` : ""}
              </span>
            </summary>
            <OptionsTable name={name} options={options} here={here} />
          </details>
        );
      })}
    </section>
  );
}

function OptionsTable(
  { name, options, here }: { name: string; options: ShownOption[]; here: string },
) {
  return (
    <DataTable
      caption={`Options: ${name}`}
      class="settings-table"
      rows={options}
      keyOf={({ name }) => name}
      columns={[
        {
          head: "Option",
          class: "col-option",
          cell: (option) => (
            <>
              <p>{option.meaning}</p>
              <HowToSet option={option} />
            </>
          ),
        },
        {
          head: "Value",
          cell: (option) =>
            option.isLive ? <EditOption option={option} here={here} /> : <Value {...option} />,
        },
        {
          head: "Set by",
          class: "col-origin",
          cell: ({ origin }) => (
            <span>
              {origin === "default"
                ? <Badge>default</Badge>
                : <Badge tone="accent">{origin}</Badge>}
            </span>
          ),
        },
      ]}
    />
  );
}

function Value({ value, origin, fallback }: ShownOption) {
  return (
    <div>
      {value === undefined
        ? <span class="muted">{fallback === "none" ? "Not set" : fallback}</span>
        : <span class="mono place">{value}</span>}
      {origin !== "default" && <p class="small muted">default: {fallback}</p>}
    </div>
  );
}

function EditOption({ option, here }: { option: ShownOption; here: string }) {
  const { name, flag, value = "", choices, must, startup, fallback } = option;
  const field = {
    name: "value",
    "aria-label": `Value of ${flag}`,
    "aria-describedby": `${name}-must`,
  };
  return (
    <div>
      <PostForm
        class="inline-form"
        action={here}
        busy="Saving…"
        fields={{ action: "set", option: name }}
      >
        {choices
          ? (
            <select {...field} class="select">
              <SelectOptions choices={choices.map((choice) => [choice, choice])} value={value} />
            </select>
          )
          : <input {...field} class="input mono option-input" value={value} required />}
        <button type="submit" class="button">
          Save <span class="visually-hidden">{flag}</span>
        </button>
      </PostForm>
      <p class="small muted" id={`${name}-must`}>
        {choices ? "" : `${must[0]!.toUpperCase()}${must.slice(1)}. `}
        {startup === undefined
          ? `Default: ${fallback}. Changes last until the gateway restarts.`
          : `Reverts to ${startup} when the gateway restarts.`}
      </p>
    </div>
  );
}

function HowToSet({ option: { name, flag, variable, settingsKey } }: { option: ShownOption }) {
  const lines = [
    `# flag\n${flag}`,
    `# environment\n${variable}`,
    `# settings file\n"${settingsKey}"`,
  ];
  return (
    <details class="definition">
      <summary>
        <code>{flag}</code>
        <span class="visually-hidden">: how to set it</span>
      </summary>
      <CodeBlock code={lines.join("\n")} label={`ways to set ${name}`} />
    </details>
  );
}
