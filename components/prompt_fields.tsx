import type { ToolOptimizationPage } from "../lib/console/optimization_tool_page.ts";
import { optimizationPath } from "../lib/console/ui/paths.ts";
import { CATEGORIES } from "../lib/core/optimization.ts";
import { Card } from "./card.tsx";
import { Field } from "./field.tsx";

interface PromptFieldsProps {
  /** Makes the ids of the fields its own: there is a form for each prompt. */
  prefix: string;
  siblings: string[];
  values: Record<string, string>;
}

/** What a user might say, and what should come of it. */
export function PromptFields({ prefix, siblings, values }: PromptFieldsProps) {
  const id = (name: string) => `${prefix}-${name}`;
  return (
    <>
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
      <Field id={id("category")} label="Category">
        <select id={id("category")} class="select" name="category">
          {CATEGORIES.map((category) => (
            <option key={category} value={category} selected={values.category === category}>
              {category}
            </option>
          ))}
        </select>
      </Field>
      <Field
        id={id("expectedTool")}
        label="Meant for another tool"
        hint="Of a negative prompt: the tool that should be called instead, if there is one."
      >
        <input
          id={id("expectedTool")}
          class="input mono"
          name="expectedTool"
          list={id("siblings")}
          value={values.expectedTool ?? ""}
          aria-describedby={`${id("expectedTool")}-hint`}
          autocomplete="off"
          spellcheck={false}
        />
      </Field>
      <datalist id={id("siblings")}>
        {siblings.slice(0, 100).map((name) => <option key={name} value={name} />)}
      </datalist>
      <Field id={id("notes")} label="Notes">
        <input
          id={id("notes")}
          class="input"
          name="notes"
          maxLength={1_000}
          value={values.notes ?? ""}
        />
      </Field>
    </>
  );
}

export function AddPrompt({ page }: { page: ToolOptimizationPage }) {
  const { typed } = page;
  if (!page.exists) return null;
  const isOwn = typed.do === undefined || typed.do === "add-prompt";
  return (
    <Card title="Add a prompt">
      <form
        class="form form-wide"
        method="post"
        action={optimizationPath(page.server, page.tool)}
        f-client-nav={false}
      >
        <input type="hidden" name="do" value="add-prompt" />
        <PromptFields
          prefix="add"
          siblings={page.siblings.filter((name) => name !== page.tool)}
          values={isOwn ? typed : {}}
        />
        <div class="form-actions">
          <button type="submit" class="button">Add prompt</button>
        </div>
      </form>
    </Card>
  );
}
