import type { ComponentChildren } from "preact";

interface CardProps {
  title?: string;
  aside?: ComponentChildren;
  /** The content reaches the edges: a table or a list of its own. */
  isFlush?: boolean;
  children: ComponentChildren;
}

/** A bordered group with an optional heading. */
export function Card({ title, aside, isFlush = false, children }: CardProps) {
  return (
    <section class={isFlush ? "card card-flush" : "card"}>
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
