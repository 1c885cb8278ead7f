import { useSignal } from "@preact/signals";
import { Icon } from "../components/icon.tsx";
import { InertText } from "../components/inert_text.tsx";
import { TokensChip } from "../components/tokens_chip.tsx";
import { formatNumber } from "../lib/console/ui/format.ts";
import { serverPath, serverStep } from "../lib/console/ui/paths.ts";
import {
  matchingTools,
  tokensOf,
  type ToolChoice as Choice,
} from "../lib/console/ui/tool_choice.ts";

interface ToolChoiceProps {
  server: string;
  tools: Choice[];
  /** Chosen ones that the server does not list now; they stay chosen. */
  withdrawn: string[];
}

/** No more than this many rows are drawn at once. */
const SHOWN = 200;

/** Chooses which tools of a server clients get. */
export default function ToolChoice({ server, tools, withdrawn }: ToolChoiceProps) {
  // What was changed here, not all of it: the list below may grow meanwhile.
  const changes = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const query = useSignal("");
  const trouble = useSignal("");
  const isSaving = useSignal(false);
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

  const save = async () => {
    isSaving.value = true;
    trouble.value = "";
    const enabled = chosen.size === tools.length ? null : [...chosen, ...withdrawn];
    try {
      const response = await fetch(`/api/servers/${encodeURIComponent(server)}/tools`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ enabled }),
      });
      if (response.ok) return location.assign(serverPath(server));
      const { error } = await response.json();
      trouble.value = `Not saved: ${error.message}. ${error.recoveryAction}`;
    } catch {
      trouble.value = "Not saved: the gateway does not answer. Is it running?";
    }
    isSaving.value = false;
  };

  return (
    <form
      method="post"
      action={serverStep(server, "tools")}
      f-client-nav={false}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSaving.value) void save();
      }}
    >
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
        <button
          type="button"
          class="button needs-js"
          onClick={() => choose(found.map(({ name }) => name), true)}
        >
          Select all{isFiltered ? ` ${formatNumber(found.length)} found` : ""}
        </button>
        <button
          type="button"
          class="button needs-js"
          onClick={() => choose(found.map(({ name }) => name), false)}
        >
          Select none
        </button>
      </div>
      <ul class="choice-list">
        {shown.map(({ name, summary, tokens }) => (
          <li key={name}>
            <input type="hidden" name="shown" value={name} />
            <label class="pick">
              <input
                type="checkbox"
                name="tool"
                value={name}
                checked={chosen.has(name)}
                onChange={(event) => choose([name], event.currentTarget.checked)}
              />
              <span class="pick-text">
                <span class="mono strong">
                  <InertText text={name} />
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
        ))}
      </ul>
      {found.length === 0 && (
        <p class="card-lead muted" role="status">No tool is found. Try other words.</p>
      )}
      {found.length > SHOWN && (
        <p class="card-lead small muted">
          {formatNumber(found.length - SHOWN)}{" "}
          more are found by searching; what is not shown keeps its state.
        </p>
      )}
      {trouble.value === ""
        ? null
        : <p class="notice tone-bad choice-trouble" role="alert">{trouble.value}</p>}
      <div class="card-foot">
        <span class="choice-size" role="status">
          Selected: {formatNumber(chosen.size)}/{formatNumber(tools.length)} tools
        </span>
        <TokensChip tokens={tokens} />
        <span class="choice-actions">
          <a class="button" href={serverPath(server)}>Cancel</a>
          <button type="submit" class="button button-primary" aria-busy={isSaving.value}>
            {isSaving.value ? "Saving…" : "Save selection"}
          </button>
        </span>
      </div>
    </form>
  );
}
