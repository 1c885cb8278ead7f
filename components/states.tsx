import type { ComponentChildren } from "preact";
import type { Tone } from "./badges.tsx";
import type { FormError } from "../lib/console/ui/api.ts";
import { Icon, type IconName } from "./icon.tsx";
import { CopyButton, InertText } from "./text.tsx";

interface EmptyStateProps {
  icon: IconName;
  title: string;
  children: ComponentChildren;
  actions?: ComponentChildren;
}

export function EmptyState({ icon, title, children, actions }: EmptyStateProps) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={20} />
      </span>
      <h2>{title}</h2>
      <div class="empty-text">{children}</div>
      {actions === undefined ? null : <div class="empty-actions">{actions}</div>}
    </div>
  );
}

interface ErrorStateProps extends Omit<FormError, "message"> {
  icon?: IconName;
  title: string;
  message: ComponentChildren;
  /** Leads to the same request in the log. */
  id: string;
  actions?: ComponentChildren;
}

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
          <dt>Error ID</dt>
          <dd class="mono" data-error-id={id}>
            {id}
            <CopyButton value={id} label="Copy error ID" />
          </dd>
        </div>
      </dl>
    </section>
  );
}

interface MissingProps {
  what: "server" | "tool" | "toolset";
  name: string;
  nearest: { name: string; href: string }[];
  code: string;
  id: string;
  listHref: string;
}

/** An unknown name, with similar names that exist. */
export function Missing({ what, name, nearest, code, id, listHref }: MissingProps) {
  return (
    <ErrorState
      icon="compass"
      title={`${what[0]?.toUpperCase()}${what.slice(1)} not found`}
      message={
        <>
          There is no {what} named{" "}
          <InertText as="code" text={name} />. It may have been renamed or removed.
        </>
      }
      code={code}
      id={id}
      steps={[]}
      actions={
        <>
          {nearest.length > 0 && (
            <div class="nearest">
              <span class="muted">Did you mean</span>
              {nearest.map(({ name, href }) => (
                <a key={name} class="button mono" href={href}>
                  <InertText text={name} />
                </a>
              ))}
            </div>
          )}
          <a class="button button-primary" href={listHref} aria-current="false">
            Show all {what}s
          </a>
        </>
      }
    />
  );
}

/** Stands where rows are about to be, in their size, so that nothing jumps. */
export function Skeleton({ rows = 3, label }: { rows?: number; label: string }) {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">{label}</span>
      {Array.from({ length: rows }, (_, index) => <span key={index} class="skeleton-row" />)}
    </div>
  );
}

type NoticeTone = Exclude<Tone, "quiet" | "accent">;

const ICONS: Record<NoticeTone, IconName> = {
  ok: "ready",
  warn: "alert",
  bad: "error",
  info: "info",
};

interface NoticeProps {
  tone: NoticeTone;
  icon?: IconName;
  /** Null: it was there when the page was opened, and is not announced. */
  role?: "status" | null;
  children: ComponentChildren;
}

/** One or two sentences above what they are about. */
export function Notice({ tone, icon = ICONS[tone], role, children }: NoticeProps) {
  return (
    <div
      class={tone === "info" ? "notice" : `notice tone-${tone}`}
      role={role === undefined ? tone === "bad" ? "alert" : "status" : role ?? undefined}
    >
      <Icon name={icon} size={14} />
      <div>{children}</div>
    </div>
  );
}
