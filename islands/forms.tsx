import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { Key } from "../components/text.tsx";
import { showQuery } from "../lib/console/ui/live.ts";
// For fewer scripts: frame.tsx says how.
import "./frame.tsx";

interface FilterFieldProps {
  action: string;
  value: string;
  label: string;
  /** What the address says besides, kept when the form is sent without JavaScript. */
  hidden: Record<string, string>;
}

const TYPING_MS = 180;

function showFiltered(name: string, value: string): void {
  const query = new URLSearchParams(location.search);
  query.delete("page");
  if (value === "") query.delete(name);
  else query.set(name, value);
  showQuery(query);
}

export function FilterField({ action, value, label, hidden }: FilterFieldProps) {
  const text = useSignal(value);
  const sent = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>();

  // Another page of the same kind was loaded, or a link cleared the filter.
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
    showFiltered("q", sent.current);
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

interface FilterSelectProps extends FilterFieldProps {
  /** Its key in the URL. */
  name: string;
  /** Label for no filter. */
  all: string;
  choices: { value: string; label: string }[];
}

export function FilterSelect(props: FilterSelectProps) {
  const { action, name, label, all, value, choices, hidden } = props;
  return (
    <form class="filter-select" action={action} method="get" f-client-nav={false}>
      <select
        name={name}
        class={value === "" ? "select" : "select is-set"}
        aria-label={label}
        value={value}
        onChange={(event) => showFiltered(name, event.currentTarget.value)}
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

/** Counts the selected items of a list; a group's checkbox selects all of its items. */
export function SelectedCount() {
  const count = useSignal(0);
  useEffect(() => {
    const boxes = (within: ParentNode, kind: "group" | "item") => [
      ...within.querySelectorAll<HTMLInputElement>(`input[data-select="${kind}"]`),
    ];
    const update = (changed?: EventTarget | null) => {
      for (const group of boxes(document, "group")) {
        const items = boxes(group.closest("[data-select-group]")!, "item");
        if (group === changed) { for (const item of items) item.checked = group.checked; }
        const selected = items.filter((item) => item.checked).length;
        group.checked = selected === items.length;
        group.indeterminate = selected > 0 && !group.checked;
      }
      count.value = boxes(document, "item").filter((item) => item.checked).length;
    };
    const stop = new AbortController();
    const { signal } = stop;
    document.addEventListener("change", ({ target }) => update(target), { signal });
    update();
    return () => stop.abort();
  }, []);
  return (
    <p class="muted" role="status">
      {count.value === 0 ? "Select items or whole groups" : `${count.value} selected`}
    </p>
  );
}

/** If the page has not loaded by then, the button works again. */
const LONGEST_MS = 10_000;

/** Shows right away that a form was submitted, for forms that a model may take long to answer. */
export function BusyForms() {
  useEffect(() => {
    const stop = new AbortController();
    const resets = new Map<HTMLButtonElement, () => void>();
    const resetAll = () => {
      for (const reset of resets.values()) reset();
    };
    const onSubmit = ({ target, submitter }: SubmitEvent) => {
      if (!(target instanceof HTMLFormElement) || target.dataset.busy === undefined) return;
      if (!(submitter instanceof HTMLButtonElement) || resets.has(submitter)) return;
      const before = [...submitter.childNodes];
      submitter.replaceChildren(target.dataset.busy);
      // Deferred; otherwise the button's own value would not be sent.
      const disabling = setTimeout(() => submitter.disabled = true);
      const waiting = setTimeout(() => resets.get(submitter)?.(), LONGEST_MS);
      resets.set(submitter, () => {
        clearTimeout(disabling);
        clearTimeout(waiting);
        resets.delete(submitter);
        submitter.replaceChildren(...before);
        submitter.disabled = false;
      });
    };
    document.addEventListener("submit", onSubmit, { signal: stop.signal });
    // The browser may restore the page as it was left.
    addEventListener("pageshow", resetAll, { signal: stop.signal });
    return () => {
      stop.abort();
      resetAll();
    };
  }, []);
  return null;
}

interface PendingButtonProps {
  label: string;
  pending: string;
}

export function PendingButton({ label, pending }: PendingButtonProps) {
  const isPending = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const form = button.current?.form;
    const onSubmit = (event: SubmitEvent) => {
      // A second press would submit twice.
      if (isPending.value) event.preventDefault();
      isPending.value = true;
    };
    // A page restored from the back/forward cache is not waiting for anything.
    const onShow = () => isPending.value = false;
    const stop = new AbortController();
    form?.addEventListener("submit", onSubmit, { signal: stop.signal });
    addEventListener("pageshow", onShow, { signal: stop.signal });
    return () => stop.abort();
  }, []);
  return (
    <button ref={button} type="submit" class="button button-primary" aria-busy={isPending.value}>
      {isPending.value ? pending : label}
    </button>
  );
}

interface CharCountProps {
  field: string;
  value: number;
  most: number;
}

export function CharCount({ field, value, most }: CharCountProps) {
  const count = useSignal(value);
  useEffect(() => {
    const input = document.getElementById(field);
    if (!(input instanceof HTMLTextAreaElement)) return;
    const onInput = () => count.value = input.value.length;
    onInput();
    input.addEventListener("input", onInput);
    return () => input.removeEventListener("input", onInput);
  }, [field]);
  const isOver = count.value > most;
  return (
    <p class={isOver ? "char-count is-over" : "char-count"} id={`${field}-count`}>
      <span>
        {count.value}/{most}
        {isOver ? `, ${count.value - most} too many` : ""}
      </span>
    </p>
  );
}
