import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ChosenList } from "../(_components)/chosen_tools.tsx";
import { PickFilters, PickList } from "../(_components)/pick_list.tsx";
import type { FilterChoice, PickedTool } from "../../../../lib/console/ui/tools.ts";
import { inertString } from "../../../../lib/console/ui/format.ts";
import {
  added,
  ANY_TOOL,
  askPicks,
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
  picks: ToolPicks;
  servers: FilterChoice[];
  categories: FilterChoice[];
}

const TYPING_MS = 180;
const COUNTED_MS = 1_500;
/** What is not counted by then will not be counted while somebody waits. */
const MOST_LOOKS = 20;

/** Chooses tools by search, by pattern and in bulk; what is chosen is in the form around it. */
export function ToolPicker(props: ToolPickerProps) {
  const chosen = useSignal(props.chosen);
  const query = useSignal<PickQuery>(ANY_TOOL);
  const picks = useSignal(props.picks);
  const { ask, asking, trouble } = useAsking();
  /** For those who cannot see what moved. */
  const announced = useSignal("");
  const names = useComputed(() => new Set(chosen.value.map((tool) => tool.namespacedName)));
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const looks = useRef(0);
  useEffect(() => () => {
    clearTimeout(timer.current);
    asking.current?.abort();
  }, []);

  const search = async () => {
    const answer = await ask(query.value);
    if (answer === undefined) return;
    picks.value = answer;
    chosen.value = withTokens(chosen.value, picked(answer));
  };

  // What was not counted yet when it was listed or chosen may be by now.
  const isCounting = picked(picks.value).some(({ tokens }) => tokens === undefined);
  const waiting = uncountedServers(chosen.value);
  useEffect(() => {
    if (!isCounting && waiting.length === 0 || looks.current >= MOST_LOOKS) return;
    const stop = new AbortController();
    const { signal } = stop;
    const soon = setTimeout(async () => {
      looks.current++;
      if (isCounting) await search();
      const asked = waiting.map((server) =>
        askPicks({ ...ANY_TOOL, server }, { all: true, signal })
      );
      const answers = await Promise.all(asked).catch(() => []);
      if (!signal.aborted) chosen.value = withTokens(chosen.value, answers.flatMap(picked));
    }, COUNTED_MS);
    return () => {
      clearTimeout(soon);
      stop.abort();
    };
  }, [picks.value, chosen.value]);

  const withAll = async (asked: PickQuery, act: (tools: PickedTool[]) => void) => {
    asking.current?.abort();
    const answer = await ask(asked, true);
    if (answer !== undefined) act(picked(answer));
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
            // What was asked before must not change the list any more.
            asking.current?.abort();
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

/** Asks the gateway for tools, with the one request under way and what is wrong with its answers. */
function useAsking() {
  const trouble = useSignal<string | undefined>(undefined);
  const asking = useRef<AbortController>();
  const ask = async (asked: PickQuery, all = false): Promise<ToolPicks | undefined> => {
    const { signal } = asking.current = new AbortController();
    try {
      const answer = await askPicks(asked, { all, signal });
      trouble.value = answer.degraded;
      return answer;
    } catch {
      if (!signal.aborted) trouble.value = "The search does not answer. Is the gateway running?";
    }
  };
  return { ask, asking, trouble };
}
