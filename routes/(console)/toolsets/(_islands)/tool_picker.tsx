import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ChosenList } from "../(_components)/chosen_tools.tsx";
import { PickFilters, PickList } from "../(_components)/pick_list.tsx";
import type { FilterChoice, PickedTool } from "../../../../lib/console/ui/tools.ts";
import { inertString } from "../../../../lib/console/ui/format.ts";
import {
  added,
  ANY_TOOL,
  fetchPicks,
  picked,
  type PickQuery,
  placed,
  type ToolPicks,
  uncountedServers,
  without,
  withTokens,
} from "../(_page)/browser.ts";
import "../../../../islands/frame.tsx";

// For fewer scripts: frame.tsx says how.

interface ToolPickerProps {
  chosen: PickedTool[];
  builtins: number;
  picks: ToolPicks;
  servers: FilterChoice[];
  categories: FilterChoice[];
}

const TYPING_MS = 180;
const COUNTED_MS = 1_500;
/** Tools not counted by then are not counted while somebody waits. */
const MOST_LOOKS = 20;

/** Chooses tools by search, by pattern and in bulk; the form around it sends the choice. */
export function ToolPicker(props: ToolPickerProps) {
  const chosen = useSignal(props.chosen);
  const query = useSignal<PickQuery>(ANY_TOOL);
  const picks = useSignal(props.picks);
  const { load, request, trouble } = useRequest();
  /** For those who cannot see what moved. */
  const announced = useSignal("");
  const names = useComputed(() => new Set(chosen.value.map((tool) => tool.namespacedName)));
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const looks = useRef(0);
  useEffect(() => () => {
    clearTimeout(timer.current);
    request.current?.abort();
  }, []);

  const search = async () => {
    const response = await load(query.value);
    if (response === undefined) return;
    picks.value = response;
    chosen.value = withTokens(chosen.value, picked(response));
  };

  // Tools that were not counted when they were listed or chosen may be counted by now.
  const isCounting = picked(picks.value).some(({ tokens }) => tokens === undefined);
  const waiting = uncountedServers(chosen.value);
  useEffect(() => {
    if (!isCounting && waiting.length === 0 || looks.current >= MOST_LOOKS) return;
    const stop = new AbortController();
    const { signal } = stop;
    const soon = setTimeout(async () => {
      looks.current++;
      if (isCounting) await search();
      const wanted = waiting.map((server) =>
        fetchPicks({ ...ANY_TOOL, server }, { all: true, signal })
      );
      const responses = await Promise.all(wanted).catch(() => []);
      if (!signal.aborted) chosen.value = withTokens(chosen.value, responses.flatMap(picked));
    }, COUNTED_MS);
    return () => {
      clearTimeout(soon);
      stop.abort();
    };
  }, [picks.value, chosen.value]);

  const withAll = async (wanted: PickQuery, act: (tools: PickedTool[]) => void) => {
    request.current?.abort();
    const response = await load(wanted, true);
    if (response !== undefined) act(picked(response));
  };
  const add = (tools: readonly PickedTool[]) => {
    const before = chosen.value.length;
    chosen.value = added(chosen.value, tools);
    const fresh = chosen.value.length - before;
    announced.value = fresh === 1
      ? `${inertString(tools[0]?.namespacedName ?? "")} added`
      : `${fresh} tools added`;
  };
  const remove = (gone: Iterable<string>) => {
    const before = chosen.value.length;
    chosen.value = without(chosen.value, new Set(gone));
    announced.value = `${before - chosen.value.length} removed`;
  };

  return (
    <div class="picker">
      <section class="picker-side" aria-labelledby="picker-find">
        <h2 id="picker-find">Find tools</h2>
        <PickFilters
          query={query.value}
          servers={props.servers}
          categories={props.categories}
          onChange={(change, isTyped) => {
            query.value = { ...query.value, ...change };
            clearTimeout(timer.current);
            // An earlier response must not change the list any more.
            request.current?.abort();
            timer.current = setTimeout(search, isTyped ? TYPING_MS : 0);
          }}
        />
        {trouble.value !== undefined && (
          <p class="notice tone-warn" role="status">{trouble.value}</p>
        )}
        <PickList
          picks={picks.value}
          query={query.value}
          chosen={names.value}
          onAdd={add}
          onRemove={remove}
          withAll={withAll}
        />
      </section>
      <ChosenList
        builtins={props.builtins}
        tools={chosen.value}
        onRemove={(name) => remove([name])}
        onClear={() => remove(names.value)}
        onPlace={(name, at) => {
          const known = [...chosen.value, ...picked(picks.value)];
          const tool = known.find((tool) => tool.namespacedName === name);
          if (tool === undefined) return;
          chosen.value = placed(chosen.value, [tool], at);
          const place = chosen.value.findIndex((one) => one.namespacedName === name);
          announced.value = `${inertString(name)} is ${place + 1} of ${chosen.value.length}`;
        }}
      />
      <p class="visually-hidden" role="status">{announced.value}</p>
    </div>
  );
}

/** Loads tools from the gateway: one request at a time, and the problem with its response. */
function useRequest() {
  const trouble = useSignal<string | undefined>(undefined);
  const request = useRef<AbortController>();
  const load = async (wanted: PickQuery, all = false): Promise<ToolPicks | undefined> => {
    const { signal } = request.current = new AbortController();
    try {
      const response = await fetchPicks(wanted, { all, signal });
      trouble.value = response.degraded;
      return response;
    } catch {
      if (!signal.aborted) trouble.value = "The search is not responding. Is the gateway running?";
    }
  };
  return { load, request, trouble };
}
