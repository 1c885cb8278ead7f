import { inertString } from "../lib/console/ui/inert_text.ts";
import { fieldId, type TryField as Field } from "../lib/console/ui/try_fields.ts";
import { InertText } from "./inert_text.tsx";

interface TryFieldProps {
  field: Field;
  value: string;
  problem?: string | undefined;
}

/** One argument of a tool: its name, what it takes, and a control that fits. */
export function TryField({ field, value, problem }: TryFieldProps) {
  const { name, type, isRequired, description, limits } = field;
  const id = fieldId(name);
  return (
    <div class="field try-field">
      <label for={id}>
        <span class="mono">
          <InertText text={name} />
        </span>
        <span class="try-type">
          <InertText text={type} />
          {isRequired && <span class="try-required">required</span>}
        </span>
      </label>
      <Control field={field} id={id} value={value} isWrong={problem !== undefined} />
      <p class="hint" id={`${id}-hint`}>
        {problem === undefined
          ? null
          : <strong class="try-problem" role="alert">{problem}.</strong>}
        {description === undefined ? null : <InertText text={description} />}
        {limits === undefined ? null : (
          <span class="mono">
            <InertText text={limits} />
          </span>
        )}
      </p>
    </div>
  );
}

interface ControlProps {
  field: Field;
  id: string;
  value: string;
  isWrong: boolean;
}

function Control({ field, id, value, isWrong }: ControlProps) {
  const { kind, isRequired, defaultValue, choices } = field;
  const common = {
    id,
    name: id,
    required: isRequired,
    "aria-describedby": `${id}-hint`,
    ...(isWrong ? { "aria-invalid": "true" as const } : {}),
  };
  const given = defaultValue === undefined ? "" : `Default: ${inertString(defaultValue)}`;
  if (kind === "boolean" || kind === "choice") {
    const values = kind === "boolean" ? ["true", "false"] : choices ?? [];
    return (
      <select {...common} class="select try-select">
        <option value="">{isRequired ? "Choose one" : given || "Not given"}</option>
        {values.map((choice) => (
          <option key={choice} value={choice} selected={choice === value}>
            {inertString(choice)}
          </option>
        ))}
      </select>
    );
  }
  if (kind === "number" || kind === "integer") {
    return (
      <input
        {...common}
        type="number"
        step={kind === "integer" ? 1 : "any"}
        class="input try-number"
        placeholder={given}
        defaultValue={value}
      />
    );
  }
  return (
    <textarea
      {...common}
      class={kind === "json" ? "input mono try-text" : "input try-text"}
      rows={kind === "json" ? 2 : 1}
      spellcheck={false}
      placeholder={given || (kind === "json" ? "JSON" : "")}
      defaultValue={value}
    />
  );
}
