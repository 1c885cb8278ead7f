import { Field } from "./field.tsx";
import { FieldProblem, problemProps } from "./security_field_problem.tsx";

interface NameFieldProps {
  id: string;
  name: string;
  label: string;
  hint: string;
  value: string;
  /** What it has to be like, and that in words. */
  pattern?: string;
  title?: string;
  maxLength?: number;
  isRequired?: boolean;
  isShort?: boolean;
  placeholder?: string;
  /** What is wrong with it. */
  problem?: string | undefined;
}

/** What names of toolsets, projects and servers are made of. */
export const PLAIN_NAME = "[A-Za-z0-9_\\-]{1,64}";

/** A field for what machines read: nothing in it is corrected or completed. */
export function NameField(
  { id, label, hint, problem, isRequired, isShort, ...rest }: NameFieldProps,
) {
  return (
    <Field id={id} label={label} hint={hint}>
      <input
        id={id}
        class={isShort ? "input mono name-input" : "input mono"}
        required={isRequired ?? false}
        autocapitalize="off"
        autocomplete="off"
        spellcheck={false}
        autofocus={problem !== undefined}
        {...rest}
        {...problemProps(id, problem)}
      />
      <FieldProblem id={id} problem={problem} />
    </Field>
  );
}

/** What somebody makes a thing for. */
export function DescriptionField(
  { id, value, maxLength }: { id: string; value: string; maxLength: number },
) {
  return (
    <Field id={id} label="Description">
      <input
        id={id}
        class="input"
        name="description"
        maxLength={maxLength}
        value={value}
        placeholder="What it is for"
      />
    </Field>
  );
}
