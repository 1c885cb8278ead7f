import type { ToolKnowledge } from "../lib/console/tool_page.ts";
import type { RefusedWords } from "../lib/console/tool_words.ts";
import { Field } from "./field.tsx";
import { FormFailure } from "./form_failure.tsx";

interface ToolWordsFormProps {
  knowledge: ToolKnowledge;
  action: string;
  refused?: RefusedWords | undefined;
}

/** What a person says of a tool in place of what is inferred. */
export function ToolWordsForm({ knowledge, action, refused }: ToolWordsFormProps) {
  const { said, summary, category } = knowledge;
  const words = refused?.written ?? said;
  const isSaid = Object.keys(said).length > 0;
  return (
    <details class="edit-words" open={refused !== undefined}>
      <summary>Change summary and category</summary>
      <form class="form" method="post" action={action} f-client-nav={false}>
        {refused === undefined ? null : <FormFailure error={refused.error} />}
        <Field
          id="summary"
          label="Summary"
          hint="One line of at most 80 characters; empty takes it from the description."
        >
          <input
            id="summary"
            class="input"
            name="summary"
            maxLength={80}
            value={words.summary ?? ""}
            placeholder={said.summary === undefined ? summary : ""}
            aria-describedby="summary-hint"
          />
        </Field>
        <Field
          id="category"
          label="Category"
          hint="Letters, digits, _ and -; empty leaves it to what the tool says."
        >
          <input
            id="category"
            class="input mono"
            name="category"
            maxLength={40}
            pattern="[A-Za-z0-9_\-]{1,40}"
            autocapitalize="off"
            spellcheck={false}
            value={words.category ?? ""}
            placeholder={said.category === undefined ? category : ""}
            aria-describedby="category-hint"
          />
        </Field>
        <Field id="deprecated" label="Deprecated" hint="Empty where it is not.">
          <input
            id="deprecated"
            class="input"
            name="deprecated"
            maxLength={300}
            value={words.deprecated ?? ""}
            placeholder="Why not to use it any more, and what instead"
            aria-describedby="deprecated-hint"
          />
        </Field>
        <div class="form-actions">
          <button type="submit" class="button button-primary">Save</button>
          {isSaid && (
            <button type="submit" class="button" name="reset" value="true">
              Reset to what is inferred
            </button>
          )}
        </div>
      </form>
    </details>
  );
}
