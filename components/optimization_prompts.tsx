import { CANONICAL, CATEGORIES, type PromptCategory } from "../lib/core/optimization.ts";
import type { PromptView, RunView } from "../lib/console/optimization_prompts.ts";
import type { ToolOptimizationPage } from "../lib/console/optimization_tool_page.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { optimizationPath } from "../lib/console/ui/paths.ts";
import { Card } from "./card.tsx";
import { Confirm } from "./confirm.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { AddPrompt, PromptFields } from "./prompt_fields.tsx";

const TITLES: Record<PromptCategory, string> = {
  direct: "Direct prompts",
  indirect: "Indirect prompts",
  negative: "Negative prompts",
};
const MEANINGS: Record<PromptCategory, string> = {
  direct: "Ask for the tool: it should be called.",
  indirect: "Describe what is wanted without naming it: it should be called.",
  negative: "Are for another tool, or for none: it must not be called.",
};

const RUNS: Record<RunView["state"], { icon: IconName; tone: string; word: string }> = {
  passed: { icon: "check", tone: "ok", word: "Passed" },
  failed: { icon: "close", tone: "bad", word: "Failed" },
  error: { icon: "alert", tone: "warn", word: "Not counted" },
};

/** The golden prompts by category, with what came of each. */
export function OptimizationPrompts({ page }: { page: ToolOptimizationPage }) {
  const { prompts } = page;
  return (
    <>
      <div class="toolbar">
        <p class="success-rate">
          {prompts.rate === undefined
            ? <span class="muted">No results yet</span>
            : (
              <span title={prompts.rate.text}>
                Success rate: <strong>{prompts.rate.short}</strong>
              </span>
            )}
        </p>
        <Choice page={page} />
      </div>
      {page.warnings.map((warning) => (
        <p key={warning} class="notice tone-warn">
          <Icon name="alert" size={14} />
          <span>{warning}</span>
        </p>
      ))}
      {prompts.groups.map(({ category, score, prompts }) => (
        <Card
          key={category}
          title={`${TITLES[category]} (${prompts.length})`}
          aside={score}
          isFlush
        >
          {prompts.length === 0
            ? <p class="card-lead muted">{MEANINGS[category]} None yet.</p>
            : (
              <ol class="rows">
                {prompts.map((view) => <PromptRow key={view.prompt.id} page={page} view={view} />)}
              </ol>
            )}
        </Card>
      ))}
      <AddPrompt page={page} />
      {page.isOn && page.isEnabled && <Generate page={page} />}
    </>
  );
}

/** Whose results are shown. */
function Choice({ page }: { page: ToolOptimizationPage }) {
  const path = optimizationPath(page.server, page.tool);
  const all = [
    { id: CANONICAL, label: "The server's own" },
    ...page.candidates.map(({ id, label, isInForce }) => ({
      id,
      label: isInForce ? `${label} (in force)` : label,
    })),
  ];
  return (
    <nav class="filters" aria-label="Results of">
      {all.map(({ id, label }) => (
        <a
          key={id}
          class="filter-chip"
          href={`${path}?${new URLSearchParams({ tab: "prompts", of: id })}`}
          aria-current={page.prompts.of === id ? "true" : "false"}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}

function PromptRow({ page, view }: { page: ToolOptimizationPage; view: PromptView }) {
  const { prompt, runs, state } = view;
  const { icon, tone, word } = RUNS[state ?? "error"];
  const passed = runs.filter((run) => run.state === "passed").length;
  const path = optimizationPath(page.server, page.tool);
  const { notes, expectedTool } = prompt.expectedBehavior;
  const isEdited = page.typed.do === "edit-prompt" && page.typed.id === prompt.id;
  return (
    <li class="row prompt" data-prompt={prompt.id}>
      {state === undefined
        ? <span class="state tone-quiet">{runs.length > 0 ? "Not counted" : "Not run"}</span>
        : (
          <span class={`state tone-${tone}`}>
            <Icon name={icon} size={14} />
            {runs.length > 1 ? `${passed}/${runs.length} passed` : word}
          </span>
        )}
      <div class="row-text change">
        <p class="prose">
          <InertText text={prompt.prompt} />
        </p>
        <p class="muted small">
          {[...new Set(runs.map(({ words }) => words))].map((words) => (
            <span key={words} class="run-words">
              <InertText text={words} />
            </span>
          ))}
          {view.isChanged && <span class="run-words">changed since it was last run</span>}
          {expectedTool === undefined ? null : (
            <span class="run-words">
              meant for{" "}
              <code>
                <InertText text={expectedTool} />
              </code>
            </span>
          )}
          {notes === undefined ? null : (
            <span class="run-words">
              <InertText text={notes} />
            </span>
          )}
          {prompt.heldOut && <span class="run-words">held back from what writes candidates</span>}
          {prompt.version > 1 && <span class="run-words">version {prompt.version}</span>}
        </p>
        {runs.some(({ reasoning }) => reasoning !== undefined) && <Reasoning runs={runs} />}
        {page.exists && (
          <details class="edit-words" open={isEdited}>
            <summary>
              Edit{" "}
              <span class="visually-hidden">prompt: {inertString(prompt.prompt.slice(0, 60))}</span>
            </summary>
            <form class="form form-wide" method="post" action={path} f-client-nav={false}>
              <input type="hidden" name="do" value="edit-prompt" />
              <input type="hidden" name="id" value={prompt.id} />
              <PromptFields
                prefix={prompt.id}
                siblings={page.siblings.filter((name) => name !== page.tool)}
                values={isEdited ? page.typed : {
                  prompt: prompt.prompt,
                  category: prompt.category,
                  notes: notes ?? "",
                  expectedTool: expectedTool ?? "",
                }}
              />
              <div class="form-actions">
                <button type="submit" class="button">Save prompt</button>
              </div>
            </form>
            <Confirm
              id={`retire-${prompt.id}`}
              label="Retire"
              subject={`prompt: ${inertString(prompt.prompt.slice(0, 60))}`}
              title="Retire this prompt?"
              action={path}
              fields={{ do: "retire-prompt", id: prompt.id }}
              verb="Retire prompt"
              isDangerous
            >
              It is no longer asked. What was measured with it stays on record.
            </Confirm>
          </details>
        )}
      </div>
    </li>
  );
}

function Reasoning({ runs }: { runs: RunView[] }) {
  return (
    <details class="edit-words">
      <summary>What the model said</summary>
      {runs.map(({ reasoning, state }, index) =>
        reasoning === undefined ? null : (
          <blockquote key={index} class="reasoning">
            {runs.length > 1 && <span class="muted small">{RUNS[state].word}:</span>}
            <InertText text={reasoning} />
          </blockquote>
        )
      )}
    </details>
  );
}

function Generate({ page }: { page: ToolOptimizationPage }) {
  return (
    <form
      class="form-actions"
      method="post"
      action={optimizationPath(page.server, page.tool)}
      f-client-nav={false}
      data-busy="A model is writing…"
    >
      <input type="hidden" name="do" value="generate-prompts" />
      {CATEGORIES.map((category) => (
        <input
          key={category}
          type="hidden"
          name={category}
          value="5"
        />
      ))}
      <button type="submit" class="button">
        Have a model write {formatCount(5, "more prompt")} a category
      </button>
    </form>
  );
}
