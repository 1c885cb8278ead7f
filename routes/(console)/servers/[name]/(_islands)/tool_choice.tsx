import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../../../../components/icon.tsx";
import { InertText } from "../../../../../components/text.tsx";
import { TokensChip, WaitBadge } from "../../../../../components/badges.tsx";
import { formatNumber } from "../../../../../lib/console/ui/format.ts";
import { serverPath, serverStep } from "../../../../../lib/console/ui/pages.ts";
import {
  type ChosenTool,
  type ConfigurableTool,
  matchingTools,
  tokensOf,
} from "../../(_page)/browser.ts";
import "../../../../../islands/frame.tsx";
import { PostForm } from "../../../../../components/forms.tsx";
// For fewer scripts: frame.tsx says how.

interface ToolChoiceProps {
  server: string;
  tools: ConfigurableTool[];
  written?: ChosenTool[];
}

/** No more than this many rows are drawn at once. */
const SHOWN = 200;

export function ToolChoice({ server, tools, written = [] }: ToolChoiceProps) {
  // Only the changes: the list below may grow meanwhile.
  const changes = useSignal<ReadonlyMap<string, boolean>>(
    new Map(written.map(({ name, isOn }) => [name, isOn])),
  );
  const query = useSignal("");
  // With scripts only what was changed is sent: the rest may have been changed elsewhere since.
  const sendsChanges = useSignal(false);
  const list = useRef<HTMLUListElement>(null);
  const chosen = new Set(
    tools.filter(({ name, isOn }) => changes.value.get(name) ?? isOn).map(({ name }) => name),
  );
  const found = matchingTools(tools, query.value);
  const shown = found.slice(0, SHOWN);
  const tokens = tokensOf(tools, chosen);
  const isFiltered = found.length !== tools.length;

  const choose = (names: Iterable<string>, isOn: boolean) => {
    const next = new Map(changes.value);
    for (const name of names) next.set(name, isOn);
    changes.value = next;
  };

  const chooseFound = (isOn: boolean) => choose(found.map(({ name }) => name), isOn);

  useEffect(() => {
    // Boxes may have been ticked before the script ran, or restored with the page.
    for (const box of list.current?.querySelectorAll<HTMLInputElement>("[type=checkbox]") ?? []) {
      if (box.checked !== chosen.has(box.value)) choose([box.value], box.checked);
    }
    sendsChanges.value = true;
  }, []);

  const drawn = new Set(shown.map(({ name }) => name));
  const changedUnseen = [...changes.value].filter(([name]) => !drawn.has(name));

  return (
    <PostForm action={serverStep(server, "tools")} busy="Saving…">
      <div class="choice-bar">
        <div class="filter needs-js">
          <Icon name="search" size={14} />
          <input
            type="search"
            class="filter-input"
            data-filter
            aria-label="Search tools"
            placeholder="Search tools"
            autocomplete="off"
            spellcheck={false}
            value={query.value}
            onInput={(event) => query.value = event.currentTarget.value}
            onKeyDown={(event) => {
              // Enter would send the form around it.
              if (event.key === "Enter") event.preventDefault();
            }}
          />
        </div>
        <button type="button" class="button needs-js" onClick={() => chooseFound(true)}>
          Select all{isFiltered ? ` ${formatNumber(found.length)} found` : ""}
        </button>
        <button type="button" class="button needs-js" onClick={() => chooseFound(false)}>
          Select none
        </button>
      </div>
      <ul ref={list} class="choice-list">
        {shown.map((tool) => (
          <ToolRow
            key={tool.name}
            server={server}
            tool={tool}
            isChosen={chosen.has(tool.name)}
            isSent={!sendsChanges.value || changes.value.has(tool.name)}
            onChoose={(isOn) => choose([tool.name], isOn)}
          />
        ))}
      </ul>
      {found.length === 0 && (
        <p class="card-lead muted" role="status">No matching tools. Try other search terms.</p>
      )}
      {found.length > SHOWN && (
        <p class="card-lead small muted">
          {formatNumber(found.length - SHOWN)}{" "}
          more match: refine the search to see them. Hidden tools keep their state.
        </p>
      )}
      {changedUnseen.map(([name, isOn]) => (
        <Fragment key={name}>
          <input type="hidden" name="shown" value={name} />
          {isOn && <input type="hidden" name="tool" value={name} />}
        </Fragment>
      ))}
      <div class="card-foot">
        <span class="choice-size" role="status">
          Selected: {formatNumber(chosen.size)}/{formatNumber(tools.length)} tools
        </span>
        <TokensChip tokens={tokens} />
        <span class="choice-actions">
          <a class="button" href={serverPath(server)} aria-current="false">Cancel</a>
          <button type="submit" class="button button-primary">Save selection</button>
        </span>
      </div>
    </PostForm>
  );
}

interface ToolRowProps {
  server: string;
  tool: ConfigurableTool;
  isChosen: boolean;
  isSent: boolean;
  onChoose: (isOn: boolean) => void;
}

function ToolRow({ server, tool, isChosen, isSent, onChoose }: ToolRowProps) {
  const { name, summary, tokens, wait } = tool;
  return (
    <li>
      {isSent && <input type="hidden" name="shown" value={name} />}
      <label class="pick">
        <input
          type="checkbox"
          name="tool"
          value={name}
          checked={isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
        <span class="pick-text">
          <span>
            <InertText as="span" class="mono strong" text={name} />{" "}
            <WaitBadge server={server} tool={name} wait={wait} />
          </span>
          <span class="muted small">
            {summary === "" ? "No description" : <InertText text={summary} />}
          </span>
        </span>
        <span class="number small muted">
          {tokens === undefined ? "counting" : `${formatNumber(tokens)} tokens`}
        </span>
      </label>
    </li>
  );
}
