import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ChosenTools } from "../components/chosen_tools.tsx";
import { Icon } from "../components/icon.tsx";
import { PickList } from "../components/pick_list.tsx";
import type { PickedTool } from "../lib/console/ui/toolset_size.ts";

interface ToolPickerProps {
  chosen: PickedTool[];
  /** What there is before anybody has searched. */
  offered: PickedTool[];
  more: number;
}

const TYPING_MS = 180;

/** Chooses tools by search; what is chosen is in the form around it, ticked. */
export default function ToolPicker({ chosen: first, offered, more }: ToolPickerProps) {
  const chosen = useSignal(first);
  const query = useSignal("");
  const found = useSignal<PickedTool[]>(offered);
  const trouble = useSignal<string | undefined>(undefined);
  const names = useComputed(() => new Set(chosen.value.map((tool) => tool.namespacedName)));
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const asking = useRef<AbortController>();
  useEffect(() => () => {
    clearTimeout(timer.current);
    asking.current?.abort();
  }, []);

  const search = async () => {
    const { signal } = asking.current = new AbortController();
    try {
      const asked = new URLSearchParams({ q: query.value.trim(), limit: "100" });
      const response = await fetch(`/api/search?${asked}`, { signal });
      if (!response.ok) throw new Error(`It answered ${response.status}`);
      const answer: { found: PickedTool[]; degraded?: string } = await response.json();
      found.value = answer.found;
      const fresh = new Map(answer.found.map((tool) => [tool.namespacedName, tool]));
      // What was not counted yet when it was chosen may be by now.
      chosen.value = chosen.value.map((tool) =>
        tool.tokens === undefined ? fresh.get(tool.namespacedName) ?? tool : tool
      );
      trouble.value = answer.degraded;
    } catch {
      if (!signal.aborted) trouble.value = "The search does not answer. Is the gateway running?";
    }
  };

  const add = (tools: readonly PickedTool[]) => {
    const fresh = tools.filter((tool) => !names.value.has(tool.namespacedName));
    chosen.value = [...chosen.value, ...fresh];
  };
  const remove = (name: string) => {
    chosen.value = chosen.value.filter((tool) => tool.namespacedName !== name);
  };

  return (
    <div class="picker">
      <section class="picker-side" aria-labelledby="picker-find">
        <h2 id="picker-find">Find tools</h2>
        <div class="filter picker-search needs-js">
          <Icon name="search" size={14} />
          <input
            type="search"
            class="filter-input"
            data-filter
            aria-label="Search tools"
            placeholder="What should it do?"
            autocomplete="off"
            spellcheck={false}
            maxLength={200}
            value={query.value}
            onInput={(event) => {
              query.value = event.currentTarget.value;
              clearTimeout(timer.current);
              // What was asked before must not change the list any more.
              asking.current?.abort();
              timer.current = setTimeout(search, TYPING_MS);
            }}
            onKeyDown={(event) => {
              // Enter would send the form around it.
              if (event.key === "Enter") event.preventDefault();
            }}
          />
        </div>
        {trouble.value !== undefined && (
          <p class="notice tone-warn" role="status">{trouble.value}</p>
        )}
        <PickList tools={found.value} chosen={names.value} onAdd={add} onRemove={remove} />
        {query.value === "" && more > 0 && (
          <p class="muted small">{more} more are found by searching.</p>
        )}
      </section>
      <ChosenTools tools={chosen.value} onRemove={remove} />
    </div>
  );
}
