import { type JobOption, PROMPTS_HINT, ROUNDS_HINT } from "../(_page)/model.ts";
import type { JobFormValues } from "../(_page)/browser.ts";
import { Card, Fact, Facts } from "../../../../components/layout.tsx";
import { SelectField, TextField } from "../../../../components/forms.tsx";

const DEPTHS = [
  {
    value: "quick",
    label: "Quick",
    hint: "5 prompts per category. Proposes candidates and promotes none.",
  },
  {
    value: "thorough",
    label: "Thorough",
    hint: "New prompts until there is a result. Only confirmed candidates are promoted.",
  },
] as const;

const VIEWS = [
  ["inline", "Shows the model all tools"],
  ["deferred", "Hides tools behind its search (Claude Code)"],
] as const;

const NUMBERS = [
  { id: "candidates", label: "Candidates per tool", min: 1, max: 10 },
  {
    id: "rounds",
    label: "Rounds of writing",
    placeholder: "default",
    hint: ROUNDS_HINT,
    min: 1,
    max: 10,
  },
  {
    id: "prompts",
    label: "Prompts per category",
    placeholder: "default",
    hint: PROMPTS_HINT,
    min: 1,
    max: 100,
  },
  {
    id: "repeats",
    label: "Runs per prompt",
    placeholder: "default",
    hint: "Default: 1. Other prompts tell more than repeats",
    min: 1,
    max: 10,
  },
  { id: "threshold", label: "Auto-promote threshold, %", min: 0, max: 100 },
  { id: "maxRuns", label: "Budget: maximum runs", placeholder: "no limit", min: 1 },
  {
    id: "maxCost",
    label: "Budget: maximum cost in USD",
    placeholder: "no limit",
    min: 0,
    step: "any",
  },
] as const;

const CHECKS = [
  ["autoPromote", "Promote automatically if the verdict allows it"],
  ["generate", "Generate missing prompts and candidates with a model"],
  ["parameters", "Also generate descriptions of parameters"],
  ["withToolset", "Also show the model the equipped toolset's tools"],
  ["strict", "Count invalid arguments and missed siblings as failures"],
] as const;

export function JobOptionsFields({ values }: { values: JobFormValues }) {
  return (
    <div class="job-options">
      <fieldset class="depths">
        <legend>Depth</legend>
        {DEPTHS.map(({ value, label, hint }) => (
          <label key={value} class="depth">
            <input type="radio" name="depth" value={value} checked={values.depth === value} />
            <span>
              {label}
              <span class="hint">{hint}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <div class="option-grid">
        {NUMBERS.map(({ id, ...field }) => (
          <TextField key={id} id={id} type="number" value={values[id]} {...field} />
        ))}
        <TextField
          id="models"
          label="Models"
          value={values.models}
          placeholder="as in the settings"
          hint="EVALUATOR:MODEL, separated by commas, such as claude-cli:sonnet"
        />
        <TextField
          id="surface"
          label="Tools the model gets"
          value={values.surface}
          placeholder="server"
          hint="server, equipped, toolset:NAME, or discovery: the search at /mcp"
        />
        <SelectField id="view" name="view" label="The client" value={values.view} choices={VIEWS} />
      </div>
      <div class="option-checks">
        {CHECKS.map(([name, label]) => (
          <label key={name} class="check-field">
            <input type="checkbox" name={name} checked={values[name]} />
            {label}
          </label>
        ))}
      </div>
    </div>
  );
}

export function JobOptionsList({ options }: { options: JobOption[] }) {
  return (
    <Card title="Options">
      <Facts>
        {options.map(({ name, value, from }) => (
          <Fact key={name} name={name}>
            {value} <span class="muted small">{from}</span>
          </Fact>
        ))}
      </Facts>
    </Card>
  );
}
