import { showQuery } from "../lib/console/ui/refresh.ts";

interface FilterSelectProps {
  action: string;
  /** Its key in the address. */
  name: string;
  label: string;
  /** The words for no filter. */
  all: string;
  value: string;
  choices: { value: string; label: string }[];
  /** What the address says besides, kept when the form is sent without JavaScript. */
  hidden: Record<string, string>;
}

/** Filters the list below by one choice; the filter is in the address. */
export default function FilterSelect(props: FilterSelectProps) {
  const { action, name, label, all, value, choices, hidden } = props;
  return (
    <form class="filter-select" action={action} method="get" f-client-nav={false}>
      <select
        name={name}
        class={value === "" ? "select" : "select is-set"}
        aria-label={label}
        value={value}
        onChange={(event) => {
          const query = new URLSearchParams(location.search);
          query.delete("page");
          query.delete(name);
          if (event.currentTarget.value !== "") query.set(name, event.currentTarget.value);
          showQuery(query);
        }}
      >
        <option value="">{all}</option>
        {choices.map(({ value, label }) => <option key={value} value={value}>{label}</option>)}
      </select>
      {Object.entries(hidden).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <noscript>
        <button type="submit" class="button">Show</button>
      </noscript>
    </form>
  );
}
