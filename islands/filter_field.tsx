import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { Key } from "../components/key.tsx";
import { showQuery } from "../lib/console/ui/refresh.ts";

interface FilterFieldProps {
  action: string;
  value: string;
  label: string;
  /** What the address says besides, kept when the form is sent without JavaScript. */
  hidden: Record<string, string>;
}

const TYPING_MS = 180;

/** Filters the list below while one types; the filter is in the address. */
export default function FilterField({ action, value, label, hidden }: FilterFieldProps) {
  const text = useSignal(value);
  const sent = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>();

  // Another page of the same kind came, or the filter was cleared by a link.
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    text.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const send = () => {
    clearTimeout(timer.current);
    if (text.value.trim() === sent.current) return;
    sent.current = text.value.trim();
    const query = new URLSearchParams(location.search);
    query.delete("page");
    if (sent.current === "") query.delete("q");
    else query.set("q", sent.current);
    showQuery(query);
  };

  return (
    <form
      class="filter"
      role="search"
      action={action}
      method="get"
      f-client-nav={false}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Icon name="search" size={14} />
      <input
        type="search"
        name="q"
        class="filter-input"
        data-filter
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          clearTimeout(timer.current);
          timer.current = setTimeout(send, TYPING_MS);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape" && text.value === "") event.currentTarget.blur();
        }}
      />
      {Object.entries(hidden).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <span class="filter-key needs-js">
        <Key name="/" />
      </span>
      <noscript>
        <button type="submit" class="button">Filter</button>
      </noscript>
    </form>
  );
}
