import type { ComponentChildren } from "preact";

interface FieldProps {
  /** Of the input inside; its hint is `{id}-hint`. */
  id: string;
  label: string;
  hint?: ComponentChildren;
  children: ComponentChildren;
}

/** A label, its input, and what to write there. */
export function Field({ id, label, hint, children }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint === undefined ? null : <p class="hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}
