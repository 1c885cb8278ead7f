import type { ComponentChildren, JSX } from "preact";
import { InertText } from "./text.tsx";

interface PageHeaderProps {
  title: ComponentChildren;
  lead?: ComponentChildren;
  action?: ComponentChildren;
}

export function PageHeader({ title, lead, action }: PageHeaderProps) {
  return (
    <header class="page-head">
      <div class="page-head-text">
        <h1>{title}</h1>
        {lead === undefined ? null : <p class="muted">{lead}</p>}
      </div>
      {action === undefined ? null : <div class="page-action">{action}</div>}
    </header>
  );
}

interface CardProps extends Omit<JSX.HTMLAttributes<HTMLElement>, "title"> {
  title?: ComponentChildren;
  aside?: ComponentChildren;
  /** The content reaches the edges: a table or a list of its own. */
  isFlush?: boolean;
}

export function Card({ title, aside, isFlush, class: more, children, ...rest }: CardProps) {
  const classes = ["card", isFlush && "card-flush", more].filter(Boolean).join(" ");
  return (
    <section class={classes} {...rest}>
      {title !== undefined && (
        <header class="card-head">
          <h2>{title}</h2>
          {aside === undefined ? null : <div class="card-aside">{aside}</div>}
        </header>
      )}
      <div class="card-body">{children}</div>
    </section>
  );
}

interface StatProps {
  name: string;
  value: ComponentChildren;
  note: ComponentChildren;
  href?: string;
  /** Of the value. */
  class?: string;
}

/** A number with its name and what it says. */
export function Stat({ name, value, note, href, class: more = "" }: StatProps) {
  const Element = href === undefined ? "div" : "a";
  return (
    <Element class="stat" href={href}>
      <span class="stat-name">{name}</span>
      <span class={`stat-value ${more}`}>{value}</span>
      <span class="stat-note">{note}</span>
    </Element>
  );
}

export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface SideListProps {
  title: string;
  /** How many there are in all; the list shows those around the current one. */
  total: number;
  allHref: string;
  entries: { name: string; href: string; icon?: ComponentChildren }[];
  current: string;
}

export function SideList({ title, total, allHref, entries, current }: SideListProps) {
  return (
    <nav class="side-list" aria-label={title}>
      <header class="side-head">
        <h2>{title}</h2>
        <a href={allHref} aria-current="false">
          {total > entries.length ? `All ${total}` : "All"}
        </a>
      </header>
      <ul>
        {entries.map(({ name, href, icon }) => (
          <li key={name} data-row {...(name === current ? { "data-current-row": "" } : {})}>
            <a class="side-link mono" href={href} data-row-link>
              {icon}
              <InertText as="span" class="cut" text={name} />
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
