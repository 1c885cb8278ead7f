import BusyForms from "../islands/busy_forms.tsx";
import type { ConsentsPage } from "../lib/console/security_consents.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { serverPath } from "../lib/console/ui/paths.ts";
import { EmptyState } from "./empty_state.tsx";
import { FormFailure } from "./form_failure.tsx";
import { ConsentCard } from "./consent_card.tsx";
import { Notice } from "./notice.tsx";
import { PageHeader } from "./page_header.tsx";
import { SecurityTabs } from "./security_tabs.tsx";

export const CONSENTS_PATH = "/security/consents";

/** Programs that somebody from elsewhere wants to have run on this machine. */
export function Consents({ page }: { page: ConsentsPage }) {
  const { consents, canAgree, isByCommandOnly, done, error } = page;
  return (
    <>
      <BusyForms />
      <PageHeader
        title="Consents"
        lead="Programs that others want to have run on the gateway's machine. None is, until you agree"
      />
      <SecurityTabs current={CONSENTS_PATH} />
      {done === undefined ? null : <Done done={done} />}
      {error === undefined ? null : <FormFailure error={error} title="Nothing was run" />}
      {consents.length === 0
        ? (
          <EmptyState icon="ready" title="Nothing waits for your consent">
            A program that a client adds, or somebody from another machine, appears here first, with
            its whole command line and who asked for it.
          </EmptyState>
        )
        : (
          <>
            <p class="muted">{formatCount(consents.length, "program")} waiting</p>
            {consents.map((row) => (
              <ConsentCard
                key={row.id}
                row={row}
                canAgree={canAgree}
                isByCommandOnly={isByCommandOnly}
                action={CONSENTS_PATH}
              />
            ))}
          </>
        )}
    </>
  );
}

function Done({ done: { decision, server } }: { done: NonNullable<ConsentsPage["done"]> }) {
  return (
    <Notice tone="ok">
      {decision === "approve"
        ? (
          <>
            <a class="mono" href={serverPath(server)}>{server}</a>{" "}
            was started. It is not trusted: what it changes about its tools waits for you.
          </>
        )
        : (
          <>
            <span class="mono">{server}</span> was refused. Nothing was run.
          </>
        )}
    </Notice>
  );
}
