import type { ComponentChildren, JSX, Ref } from "preact";
import { Card } from "./layout.tsx";
import type { FormError } from "../lib/console/errors.ts";
import { Icon } from "./icon.tsx";
import { InertText } from "./text.tsx";

interface PostFormProps extends JSX.HTMLAttributes<HTMLFormElement> {
  action: string;
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

interface PostButtonProps extends Pick<PostFormProps, "action" | "fields" | "busy"> {
  label: ComponentChildren;
  subject?: string;
  kind?: "primary" | "danger" | undefined;
}

export function PostButton({ label, subject, kind, ...form }: PostButtonProps) {
  return (
    <PostForm {...form}>
      <button type="submit" class={kind === undefined ? "button" : `button button-${kind}`}>
        {label}
        {subject !== undefined && <span class="visually-hidden">{` ${subject}`}</span>}
      </button>
    </PostForm>
  );
}

export function FormCard({ id, title, ...form }: PostFormProps & { id: string; title: string }) {
  return (
    <div id={id}>
      <Card title={title}>
        <PostForm class="form form-wide" {...form} />
      </Card>
    </div>
  );
}

type Choices = readonly (readonly [value: string, label: string])[];

export function SelectOptions(
  { choices, value }: { choices: Choices; value?: string | undefined },
) {
  return (
    <>
      {choices.map(([each, label]) => (
        <option key={each} value={each} selected={each === value}>{label}</option>
      ))}
    </>
  );
}

interface FieldProps {
  /** Of the input inside; its hint is `{id}-hint`. */
  id: string;
  label: string;
  hint?: ComponentChildren;
  children: ComponentChildren;
}

export function Field({ id, label, hint, children }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint === undefined ? null : <p class="hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

interface SelectFieldProps extends Omit<FieldProps, "children"> {
  name: string;
  choices: Choices;
  value: string | undefined;
}

export function SelectField({ name, choices, value, ...field }: SelectFieldProps) {
  const { id, hint } = field;
  return (
    <Field {...field}>
      <select
        id={id}
        class="select"
        name={name}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      >
        <SelectOptions choices={choices} value={value} />
      </select>
    </Field>
  );
}

interface TextFieldProps extends JSX.InputHTMLAttributes<HTMLInputElement> {
  id: string;
  label: string;
  hint?: ComponentChildren;
  problem?: string | undefined;
}

export function TextField({ label, hint, problem, value, ...input }: TextFieldProps) {
  const { id } = input;
  const described = [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return (
    <Field id={id} label={label} hint={hint}>
      <input
        class="input"
        name={id}
        aria-invalid={problem === undefined ? undefined : "true"}
        aria-describedby={described || undefined}
        autofocus={problem !== undefined}
        // Empty is left out: a live update would set the field back to it.
        value={value === "" ? undefined : value}
        {...input}
      />
      {problem !== undefined && (
        <p class="field-problem" id={`${id}-problem`} role="alert">{problem}</p>
      )}
    </Field>
  );
}

export const PLAIN_NAME = "[A-Za-z0-9_\\-]{1,64}";

/** A field for names: the browser corrects and completes nothing in it. */
export function NameField(
  { isRequired = false, isShort, ...field }: TextFieldProps & {
    isRequired?: boolean;
    isShort?: boolean;
  },
) {
  return (
    <TextField
      class={isShort ? "input mono name-input" : "input mono"}
      required={isRequired}
      autocapitalize="off"
      autocomplete="off"
      spellcheck={false}
      {...field}
    />
  );
}

export function DescriptionField(
  props: { id: string; value: string; maxLength: number },
) {
  return (
    <TextField label="Description" name="description" placeholder="What it is for" {...props} />
  );
}

interface ConfirmProps extends Pick<PostFormProps, "action" | "fields" | "busy"> {
  id: string;
  label: string;
  /** Read aloud after the label: a list has one such button a row. */
  subject: string;
  /** Names the thing, as a question. */
  title: string;
  children: ComponentChildren;
  /** On the button that confirms. */
  verb: string;
  isDangerous?: boolean;
  isPrimary?: boolean;
  /** A form for a step that may be wanted first. */
  before?: ComponentChildren;
}

/** Asks before something is done, in the browser's own popover: works without scripts. */
export function Confirm(props: ConfirmProps) {
  const { id, label, subject, title, children, verb, isDangerous, isPrimary, before, ...form } =
    props;
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
        <PostButton {...form} label={verb} kind={isDangerous ? "danger" : "primary"} />
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
