import type { FormError } from "../lib/console/form_error.ts";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";

/** What could not be done, and what to do about it. */
export function FormFailure({ error, title }: { error: FormError; title?: string }) {
  return (
    <div class="notice tone-bad form-failure" role="alert">
      <Icon name="error" size={14} />
      <div>
        <p class="strong">
          {title === undefined ? null : `${title}: `}
          <InertText text={error.message} />
        </p>
        <ul class="form-steps">
          {error.steps.map((step) => (
            <li key={step}>
              <InertText text={step} />
            </li>
          ))}
        </ul>
        {error.hint === undefined ? null : (
          <pre
            class="form-hint"
            tabIndex={0}
            aria-label="What it wrote"
          ><InertText text={error.hint} /></pre>
        )}
        <p class="small muted">
          <code>{error.code}</code>
        </p>
      </div>
    </div>
  );
}
