import type { ComponentChildren, JSX, Ref } from "preact";
import { Card } from "./layout.tsx";
import type { FormError } from "../lib/console/errors.ts";
import { Icon } from "./icon.tsx";
import { InertText } from "./text.tsx";

interface PostFormProps extends JSX.HTMLAttributes<HTMLFormElement> {
  action: string;
  /** Hidden fields. */
  fields?: Record<string, string>;
  /** The submit button's label while the form is being sent. */
  busy?: string | undefined;
  encType?: "multipart/form-data";
}

/** A form that the gateway handles and answers with a whole page. */
export function PostForm({ fields = {}, busy, children, ...rest }: PostFormProps) {
  return (
    <form method="post" f-client-nav={false} data-busy={busy} {...rest}>
      <HiddenFields fields={fields} />
      {children}
    </form>
  );
}

export function HiddenFields({ fields }: { fields: Record<string, string> }) {
  return (
    <>
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

interface FormCardProps {
  /** For links to the form. */
  id: string;
  title: string;
  action: string;
  busy: string;
  fields?: Record<string, string>;
  children: ComponentChildren;
}

/** A form that creates something, below the list of what exists. */
export function FormCard({ id, title, children, ...form }: FormCardProps) {
  return (
    <div id={id}>
      <Card title={title}>
        <PostForm class="form form-wide" {...form}>{children}</PostForm>
      </Card>
    </div>
  );
}

interface FieldProps {
  /** Of the input inside; its hint is `{id}-hint`. */
  id: string;
  label: string;
  hint?: ComponentChildren;
  children: ComponentChildren;
}

/** A label, its input and a hint. */
export function Field({ id, label, hint, children }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint === undefined ? null : <p class="hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

interface TextFieldProps extends JSX.InputHTMLAttributes<HTMLInputElement> {
  /** Also its name in the form. */
  id: string;
  label: string;
  hint: string;
}

/** A field of one line. */
export function TextField({ id, label, hint, ...input }: TextFieldProps) {
  return (
    <Field id={id} label={label} hint={hint}>
      <input id={id} class="input" name={id} aria-describedby={`${id}-hint`} {...input} />
    </Field>
  );
}

/** The error of the field above. */
export function FieldError({ id, problem }: { id: string; problem: string | undefined }) {
  if (problem === undefined) return null;
  return <p class="field-problem" id={`${id}-problem`} role="alert">{problem}</p>;
}

/** ARIA attributes that tie a field to its hint and its error. */
export function problemProps(id: string, problem: string | undefined) {
  return problem === undefined
    ? { "aria-describedby": `${id}-hint` }
    : { "aria-invalid": "true" as const, "aria-describedby": `${id}-problem ${id}-hint` };
}

interface NameFieldProps {
  id: string;
  name: string;
  label: string;
  hint: string;
  value: string;
  /** The allowed form as a regular expression; `title` describes it. */
  pattern?: string;
  title?: string;
  maxLength?: number;
  isRequired?: boolean;
  isShort?: boolean;
  placeholder?: string;
  problem?: string | undefined;
}

/** Names of toolsets, projects and servers. */
export const PLAIN_NAME = "[A-Za-z0-9_\\-]{1,64}";

/** A field for names: the browser corrects and completes nothing in it. */
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
      <FieldError id={id} problem={problem} />
    </Field>
  );
}

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

interface ConfirmProps {
  id: string;
  /** On the button that opens the question. */
  label: string;
  /** Read aloud after the label: a list has one such button a row. */
  subject: string;
  /** Names the thing, as a question. */
  title: string;
  /** The effect. */
  children: ComponentChildren;
  action: string;
  /** On the button that confirms. */
  verb: string;
  fields?: Record<string, string>;
  busy?: string;
  isDangerous?: boolean;
  /** Whether the button that opens the question is the page's main one. */
  isPrimary?: boolean;
  /** A form for a step that may be wanted first. */
  before?: ComponentChildren;
}

/** Asks before something is done, in the browser's own popover: works without scripts. */
export function Confirm(props: ConfirmProps) {
  const { id, label, subject, title, children, verb, isDangerous, isPrimary, before } = props;
  const { action, fields = {}, busy } = props;
  return (
    <>
      <button
        type="button"
        class={isPrimary ? "button button-primary above" : "button above"}
        popovertarget={id}
      >
        {label} <span class="visually-hidden">{subject}</span>
      </button>
      <ConfirmPopover id={id} title={title} text={children}>
        <PostForm action={action} fields={fields} busy={busy}>
          <button
            type="submit"
            class={isDangerous ? "button button-danger" : "button button-primary"}
          >
            {verb}
          </button>
        </PostForm>
        {before}
      </ConfirmPopover>
    </>
  );
}

interface ConfirmPopoverProps {
  id: string;
  title: ComponentChildren;
  text: ComponentChildren;
  /** The buttons before Cancel. */
  children: ComponentChildren;
  popover?: Ref<HTMLDivElement>;
}

export function ConfirmPopover({ id, title, text, children, popover }: ConfirmPopoverProps) {
  return (
    <div
      {...(popover === undefined ? {} : { ref: popover })}
      id={id}
      class="confirm"
      popover="auto"
      role="dialog"
      aria-labelledby={`${id}-title`}
    >
      <h2 id={`${id}-title`}>{title}</h2>
      <div class="confirm-text">{text}</div>
      <div class="confirm-actions">
        {children}
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
  );
}

/** Why a form was not accepted, and what to do. */
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
            aria-label="Details"
          ><InertText text={error.hint} /></pre>
        )}
        <p class="small muted">
          <code>{error.code}</code>
        </p>
      </div>
    </div>
  );
}
