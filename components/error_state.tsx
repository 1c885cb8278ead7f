import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy_button.tsx";
import { Icon, type IconName } from "./icon.tsx";

interface ErrorStateProps {
  icon?: IconName;
  title: string;
  message: ComponentChildren;
  code: string;
  /** Leads to the same request in the log. */
  id: string;
  steps: string[];
  hint?: string;
  actions?: ComponentChildren;
}

/** What happened, what to do next, and how to find it in the log. */
export function ErrorState(props: ErrorStateProps) {
  const { icon = "error", title, message, code, id, steps, hint, actions } = props;
  return (
    <section
      class={icon === "error" ? "failure is-wrong" : "failure"}
      aria-labelledby="failure-title"
    >
      <span class="failure-icon">
        <Icon name={icon} size={20} />
      </span>
      <h1 id="failure-title">{title}</h1>
      <p class="failure-message">{message}</p>
      {steps.length > 0 && (
        <ul class="failure-steps">{steps.map((step) => <li key={step}>{step}</li>)}</ul>
      )}
      {hint === undefined ? null : <p class="muted">{hint}</p>}
      {actions === undefined ? null : <div class="failure-actions">{actions}</div>}
      <dl class="failure-facts">
        <div>
          <dt>Code</dt>
          <dd class="mono">{code}</dd>
        </div>
        <div>
          <dt>Error id</dt>
          <dd class="mono" data-error-id={id}>
            {id}
            <CopyButton value={id} label="Copy error id" />
          </dd>
        </div>
      </dl>
    </section>
  );
}
