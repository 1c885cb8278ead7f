import type { JobOption } from "../(_page)/model.ts";
import type { JobFormValues } from "../(_page)/browser.ts";
import { DEPTHS as USUAL } from "../../../../lib/optimizer/evaluation/plan.ts";
import { Card, Fact, Facts } from "../../../../components/layout.tsx";
import { InputField } from "../../../../components/forms.tsx";

const DEPTHS = [
  {
    value: "quick",
    label: "Quick",
    hint: "5 prompts a category, once each; decided by the thresholds",
  },
  {
    value: "thorough",
    label: "Thorough",
    hint: "12 prompts a category, three times each; decided on prompts that no writer has seen",
  },
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
        <NumberField
          id="candidates"
          label="Candidates per tool"
          value={values.candidates}
          min={1}
          max={10}
        />
        <NumberField
          id="prompts"
          label="Prompts per category"
          value={values.prompts}
          placeholder="by depth"
          hint={`Empty: ${USUAL.quick.promptsPerCategory}, or ${USUAL.thorough.promptsPerCategory} where thorough`}
          min={1}
          max={50}
        />
        <NumberField
          id="threshold"
          label="Auto-promote threshold, %"
          value={values.threshold}
          min={0}
          max={100}
        />
        <NumberField
          id="maxRuns"
          label="Budget: most runs"
          value={values.maxRuns}
          placeholder="no limit"
          min={1}
        />
        <NumberField
          id="maxCost"
          label="Budget: most dollars"
          value={values.maxCost}
          placeholder="no limit"
          min={0}
          step="any"
        />
      </div>
      <div class="option-checks">
        <Check name="autoPromote" isOn={values.autoPromote}>
          Promote what the verdict allows
        </Check>
        <Check name="generate" isOn={values.generate}>
          Have a model write missing prompts and candidates
        </Check>
        <Check name="withToolset" isOn={values.withToolset}>
          Show the equipped toolset's tools beside the server's
        </Check>
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

function NumberField(field: Omit<Parameters<typeof InputField>[0], "name" | "type">) {
  return <InputField name={field.id} type="number" {...field} />;
}

function Check({ name, isOn, children }: { name: string; isOn: boolean; children: string }) {
  return (
    <label class="check-field">
      <input type="checkbox" name={name} checked={isOn} />
      {children}
    </label>
  );
}
