import { describeInput, type FormOutcome } from "../lib/console/form_page.ts";
import type { Operation } from "../lib/operations/operation.ts";
import { FormFailure, NameField, SelectField, TextField } from "./forms.tsx";
import { Notice } from "./states.tsx";

type FieldProps = Partial<Parameters<typeof NameField>[0]> & {
  /** The text of each choice, if not the value itself. */
  labels?: readonly (readonly [value: string, label: string])[];
  /** For a name or a pattern: nothing is corrected or completed. */
  isName?: boolean;
};

interface OperationFieldsProps {
  /** Prefix of the inputs' ids. */
  id: string;
  operation: Operation;
  /** The fields to show, with what differs from their schema. */
  fields: Record<string, FieldProps>;
  values?: Record<string, string>;
  problems?: FormOutcome["problems"];
}

/** Fields of an operation's input: labels, hints and limits come from its schema. */
export function OperationFields(
  { id: prefix, operation, fields, values = {}, problems }: OperationFieldsProps,
) {
  return (
    <>
      {Object.entries(fields).map(([name, { labels, isName, ...props }]) => {
        const { choices, limits, ...described } = describeInput(operation, name);
        const options = labels ?? choices?.map((choice) => [choice, choice] as const);
        const label = props.label ?? described.label;
        const hint = "hint" in props ? props.hint : described.hint;
        const field = { id: `${prefix}-${name}`, name, label, hint, value: values[name] };
        if (options) return <SelectField key={name} {...field} choices={options} />;
        const text = {
          ...limits,
          required: described.required,
          ...props,
          ...field,
          problem: problems?.[name],
        };
        return isName ? <NameField key={name} {...text} /> : <TextField key={name} {...text} />;
      })}
    </>
  );
}

/** What a form did, or why it was refused. */
export function FormResult({ done, refused, isPartial = false }: FormOutcome) {
  return (
    <>
      {done !== undefined && <Notice tone="ok">{done}</Notice>}
      {refused !== undefined && (
        <FormFailure
          error={refused}
          {...(isPartial ? {} : { title: "Nothing was changed" })}
        />
      )}
    </>
  );
}
