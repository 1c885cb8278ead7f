import type { ComponentChildren } from "preact";

interface PageHeaderProps {
  title: ComponentChildren;
  /** One sentence, where the title does not say it all. */
  lead?: ComponentChildren;
  /** The one primary action of the page. */
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
