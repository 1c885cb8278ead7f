import type { ComponentChildren } from "preact";
import { HiddenFields } from "./hidden_fields.tsx";

interface ConfirmProps {
  id: string;
  /** On the button that asks. */
  label: string;
  /** What it is about, read aloud after the label: a list has one such button a row. */
  subject: string;
  /** Names the thing, as a question. */
  title: string;
  /** The effect, in words. */
  children: ComponentChildren;
  /** Where the form goes, and its verb. */
  action: string;
  verb: string;
  /** What the form sends along. */
  fields?: Record<string, string>;
  /** Said on the button while the form is on its way. */
  busy?: string;
  isDangerous?: boolean;
  /** Whether the button that asks is the page's main one. */
  isPrimary?: boolean;
  /** A step that may be wanted first. */
  before?: ComponentChildren;
}

/** Asks before something is done; the browser's own popover, so that it works without scripts. */
export function Confirm(props: ConfirmProps) {
  const { id, label, subject, title, children, action, verb, isDangerous, isPrimary, before } =
    props;
  const { fields = {} } = props;
  return (
    <>
      <button
        type="button"
        class={isPrimary ? "button button-primary above" : "button above"}
        popovertarget={id}
      >
        {label} <span class="visually-hidden">{subject}</span>
      </button>
      <div id={id} class="confirm" popover="auto" role="dialog" aria-labelledby={`${id}-title`}>
        <h2 id={`${id}-title`}>{title}</h2>
        <div class="confirm-text">{children}</div>
        <div class="confirm-actions">
          <form method="post" action={action} f-client-nav={false} data-busy={props.busy}>
            <HiddenFields fields={fields} />
            <button
              type="submit"
              class={isDangerous ? "button button-danger" : "button button-primary"}
            >
              {verb}
            </button>
          </form>
          {before}
          <button
            type="button"
            class="button"
            popovertarget={id}
            popovertargetaction="hide"
            autofocus
          >
            Cancel
          </button>
        </div>
      </div>
    </>
  );
}
