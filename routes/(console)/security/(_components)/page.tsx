import type { ComponentChildren } from "preact";
import { PageHeader } from "../../../../components/layout.tsx";
import { FormResult } from "../../../../components/operation_form.tsx";
import { BusyForms } from "../../../../islands/forms.tsx";
import type { FormOutcome } from "../../../../lib/console/form_page.ts";
import { SECURITY_PAGES } from "../../../../lib/console/ui/pages.ts";

interface SecurityPageProps {
  path: typeof SECURITY_PAGES[number]["path"];
  title?: string;
  lead: ComponentChildren;
  action?: ComponentChildren;
  /** The live events that load the page again. */
  live?: string;
  outcome?: FormOutcome;
  children: ComponentChildren;
}

/** The frame of every security page: heading, tabs, and the result of a form. */
export function SecurityPage(
  { path: current, title, lead, action, live, outcome = {}, children }: SecurityPageProps,
) {
  const { label } = SECURITY_PAGES.find(({ path }) => path === current)!;
  return (
    <div class="stack" data-live={live}>
      <BusyForms />
      <PageHeader title={title ?? label} lead={lead} action={action} />
      <nav class="filters" aria-label="Security">
        {SECURITY_PAGES.map(({ path, label }) => (
          <a
            key={path}
            class="filter-chip"
            href={path}
            aria-current={path === current ? "true" : "false"}
          >
            {label}
          </a>
        ))}
      </nav>
      <FormResult {...outcome} />
      {children}
    </div>
  );
}
