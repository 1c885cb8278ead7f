import type { PromptView, RunView, ToolOptimizationPage } from "../(_page)/tool.ts";
import { SCORE_LABELS } from "../(_page)/comparison.ts";
import { CANONICAL, CATEGORIES, type PromptCategory } from "../../../../lib/core/optimization.ts";
import { Card } from "../../../../components/layout.tsx";
import {
  Confirm,
  Field,
  NameField,
  PostButton,
  PostForm,
  SelectField,
  TextField,
} from "../../../../components/forms.tsx";
import { Notice } from "../../../../components/states.tsx";
import { inertString } from "../../../../lib/console/ui/format.ts";
import { StateLabel, type Tone } from "../../../../components/badges.tsx";
import type { IconName } from "../../../../components/icon.tsx";
import { Ago, InertText } from "../../../../components/text.tsx";

const MEANINGS: Record<PromptCategory, string> = {
  direct: "Direct prompts name the task plainly. The tool should be called.",
  indirect: "Indirect prompts describe a goal without naming the tool. The tool should be called.",
  negative: "Negative prompts are for another tool, or for none. The tool must not be called.",
};

const MORE = "5";

const RUNS: Record<RunView["state"], { icon: IconName; tone: Tone; word: string }> = {
  passed: { icon: "check", tone: "ok", word: "Passed" },
  failed: { icon: "close", tone: "bad", word: "Failed" },
  error: { icon: "alert", tone: "warn", word: "Not counted" },
};

export function OptimizationPrompts({ page }: { page: ToolOptimizationPage }) {
  const { prompts, typed } = page;
  return (
    <>
      <div class="toolbar">
        <p class="success-rate">
          {prompts.rate
            ? (
              <span title={prompts.rate.text}>
                Correct in all evaluations: <strong>{prompts.rate.short}</strong>
              </span>
            )
            : <span class="muted">No results yet</span>}
        </p>
        <Choice page={page} />
      </div>
      {page.warnings.map((warning) => (
        <Notice key={warning} tone="warn" role={null}>{warning}</Notice>
      ))}
      {page.suspects.length > 0 && page.exists && <Suspects page={page} />}
      {prompts.groups.map(({ category, score, prompts }) => (
        <Card
          key={category}
          title={`${SCORE_LABELS[category]} prompts (${prompts.length})`}
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
      {page.exists && (
        <Card title="Add a prompt">
          <PromptForm
            page={page}
            prefix="add"
            fields={{ do: "add-prompt" }}
            verb="Add prompt"
            values={typed.do === undefined || typed.do === "add-prompt" ? typed : {}}
          />
        </Card>
      )}
      {page.isOn && page.isEnabled && (
        <div class="form-actions">
          <PostButton
            action={page.path}
            busy="A model is writing…"
            fields={{ do: "generate-prompts", direct: MORE, indirect: MORE, negative: MORE }}
            label={`Generate ${MORE} more prompts per category`}
          />
        </div>
      )}
    </>
  );
}

/** Prompts that count against every description, with what may be done about each. */
function Suspects({ page }: { page: ToolOptimizationPage }) {
  return (
    <Card title={`Check these labels (${page.suspects.length})`} isFlush>
      <p class="card-lead hint">
        A prompt with a wrong label counts against every description alike. Keep the label if it is
        right.
      </p>
      <ol class="rows">
        {page.suspects.map(({ id, prompt, category, why, proposal }) => {
          const { expectedTool } = proposal;
          const to = expectedTool === undefined ? "" : `, for ${inertString(expectedTool)}`;
          const subject = `prompt: ${inertString(prompt.slice(0, 60))}`;
          const fields = (decision: string) => ({ do: "label", id, decision });
          return (
            <li class="row prompt" key={id} data-suspect={id}>
              <StateLabel tone="warn" icon="alert">{category}</StateLabel>
              <div class="row-text change">
                <InertText as="p" class="prose" text={prompt} />
                <InertText as="p" class="muted small" text={why} />
                <div class="form-actions">
                  <PostButton
                    action={page.path}
                    fields={fields("keep")}
                    label="Keep"
                    subject={subject}
                  />
                  <PostButton
                    action={page.path}
                    fields={fields("relabel")}
                    label={`Relabel as ${proposal.category}${to}`}
                    subject={subject}
                  />
                  <PostButton
                    action={page.path}
                    fields={fields("drop")}
                    label="Drop"
                    subject={subject}
                  />
                </div>
              </div>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

function Choice({ page }: { page: ToolOptimizationPage }) {
  const all = [
    { id: CANONICAL, label: "Canonical description" },
    ...page.candidates.map(({ id, label, isInForce }) => ({
      id,
      label: isInForce ? `${label} (active)` : label,
    })),
  ];
  return (
    <nav class="filters" aria-label="Results for">
      {all.map(({ id, label }) => (
        <a
          key={id}
          class="filter-chip"
          href={`${page.path}?${new URLSearchParams({ tab: "prompts", of: id })}`}
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
  const { notes, expectedTool, expectedArguments } = prompt.expectedBehavior;
  const isEdited = page.typed.do === "edit-prompt" && page.typed.id === prompt.id;
  return (
    <li class="row prompt" data-prompt={prompt.id}>
      {state === undefined
        ? <StateLabel>{runs.length > 0 ? "Not counted" : "Not run"}</StateLabel>
        : (
          <StateLabel tone={tone} icon={icon}>
            {runs.length > 1 ? `${passed}/${runs.length} passed` : word}
          </StateLabel>
        )}
      <div class="row-text change">
        <InertText as="p" class="prose" text={prompt.prompt} />
        <p class="muted small">
          {[...new Set(runs.map(({ text }) => text))].map((text) => (
            <span key={text} class="run-words">
              <InertText text={text} />
            </span>
          ))}
          {view.isChanged && <span class="run-words">changed since it was last run</span>}
          {expectedTool === undefined ? null : (
            <span class="run-words">
              meant for <InertText as="code" text={expectedTool} />
            </span>
          )}
          {expectedArguments === undefined ? null : (
            <span class="run-words">
              with <InertText as="code" text={JSON.stringify(expectedArguments)} />
            </span>
          )}
          {notes === undefined ? null : <InertText as="span" class="run-words" text={notes} />}
          {prompt.heldOut && <span class="run-words">hidden when candidates are written</span>}
          {prompt.version > 1 && <span class="run-words">version {prompt.version}</span>}
        </p>
        {runs.length > 0 && <Runs runs={runs} />}
        {page.exists && (
          <details class="edit-words" open={isEdited}>
            <summary>
              Edit{" "}
              <span class="visually-hidden">prompt: {inertString(prompt.prompt.slice(0, 60))}</span>
            </summary>
            <PromptForm
              page={page}
              prefix={prompt.id}
              fields={{ do: "edit-prompt", id: prompt.id }}
              verb="Save prompt"
              values={isEdited ? page.typed : {
                prompt: prompt.prompt,
                category: prompt.category,
                notes: notes ?? "",
                expectedTool: expectedTool ?? "",
                expectedArguments: expectedArguments ? JSON.stringify(expectedArguments) : "",
              }}
            />
            <Confirm
              id={`retire-${prompt.id}`}
              label="Retire"
              subject={`prompt: ${inertString(prompt.prompt.slice(0, 60))}`}
              title="Retire this prompt?"
              action={page.path}
              fields={{ do: "retire-prompt", id: prompt.id }}
              verb="Retire prompt"
              isDangerous
            >
              Evaluations no longer use it. Its results are kept.
            </Confirm>
          </details>
        )}
      </div>
    </li>
  );
}

function Runs({ runs }: { runs: RunView[] }) {
  return (
    <details class="edit-words">
      <summary>
        {runs.some(({ reasoning }) => reasoning !== undefined) ? "Model response" : "Time"}
      </summary>
      {runs.map(({ reasoning, state, at, seconds }, index) => (
        <blockquote key={index} class="reasoning">
          <span class="muted small">
            {runs.length > 1 && `${RUNS[state].word}, `}
            <Ago at={at} />
            {seconds !== undefined && `, took ${seconds}`}
            {reasoning === undefined ? "" : ":"}
          </span>
          {reasoning !== undefined && <InertText as="p" text={reasoning} />}
        </blockquote>
      ))}
    </details>
  );
}

interface PromptFormProps {
  page: ToolOptimizationPage;
  /** Makes the ids of the inputs unique: there is a form for each prompt. */
  prefix: string;
  fields: Record<string, string>;
  verb: string;
  values: Record<string, string>;
}

function PromptForm({ page, prefix, fields, verb, values }: PromptFormProps) {
  const id = (name: string) => `${prefix}-${name}`;
  const siblings = page.siblings.filter((name) => name !== page.tool).slice(0, 100);
  return (
    <PostForm
      class="form form-wide"
      action={page.path}
      fields={fields}
    >
      <Field id={id("prompt")} label="Prompt">
        <textarea
          id={id("prompt")}
          class="input"
          name="prompt"
          rows={2}
          required
          minLength={10}
          maxLength={4_000}
        >
          {values.prompt ?? ""}
        </textarea>
      </Field>
      <SelectField
        id={id("category")}
        label="Category"
        name="category"
        choices={CATEGORIES.map((category) => [category, category])}
        value={values.category}
      />
      <NameField
        id={id("expectedTool")}
        label="Expected tool"
        hint="For a negative prompt: the tool that should be called instead, if any."
        name="expectedTool"
        list={id("siblings")}
        value={values.expectedTool ?? ""}
      />
      <datalist id={id("siblings")}>
        {siblings.map((name) => <option key={name} value={name} />)}
      </datalist>
      <TextField
        id={id("expectedArguments")}
        label="Expected arguments"
        hint='For a prompt that calls the tool: JSON that the call must contain, such as {"city":"Rome"}.'
        name="expectedArguments"
        value={values.expectedArguments ?? ""}
      />
      <TextField
        id={id("notes")}
        label="Notes"
        name="notes"
        maxLength={1_000}
        value={values.notes ?? ""}
      />
      <div class="form-actions">
        <button type="submit" class="button">{verb}</button>
      </div>
    </PostForm>
  );
}
