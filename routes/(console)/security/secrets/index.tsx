import { SECRET_DECISIONS, type SecretsPage, secretsPage } from "./(_page)/model.ts";
import { secretReference } from "../../../../lib/core/secret_reference.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { serverPath } from "../../../../lib/console/ui/pages.ts";
import { Ago, CopyButton, InertText } from "../../../../components/text.tsx";
import { Card } from "../../../../components/layout.tsx";
import { Confirm, FormCard } from "../../../../components/forms.tsx";
import { OperationFields } from "../../../../components/operation_form.tsx";
import { DataTable } from "../../../../components/tables.tsx";
import { EmptyState, Notice } from "../../../../components/states.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { SecurityPage } from "../(_components)/page.tsx";
import { formPage } from "../../../../lib/console/form_page.ts";
import { define } from "../../../../lib/console/define.ts";
import { SECRET_OPERATIONS } from "../../../../lib/operations/secrets.ts";

const PATH = "/security/secrets";

export const handler = formPage({
  title: "Secrets",
  path: PATH,
  decisions: SECRET_DECISIONS,
  load: secretsPage,
});

/** The names of all secrets, and the form that sets one. */
export default define.page<typeof handler>(function SecretsPage({ data: page }) {
  const { secrets, missing, unavailable, draft, problems } = page;
  return (
    <SecurityPage
      path={PATH}
      live="servers settings"
      outcome={page}
      lead="Stored encrypted, and inserted into a server's configuration when it starts; never shown again"
      action={<a class="button button-primary" href="#set-secret">Set a secret</a>}
    >
      {unavailable === undefined ? null : (
        <Notice tone="warn">
          <InertText text={unavailable} />
        </Notice>
      )}
      {missing.map(({ name, usedBy }) => (
        <Notice key={name} tone="warn">
          <span class="mono strong">{name}</span> is not set, but <Servers names={usedBy} />{" "}
          {usedBy.length === 1 ? "refers" : "refer"} to it.{" "}
          <a href={`${PATH}?name=${name}#set-secret`}>Set {name}</a>
        </Notice>
      ))}
      {secrets.length > 0
        ? <SecretsTable secrets={secrets} />
        : (
          <EmptyState icon="lock" title="No secrets yet">
            Set one, then use <code>{"${secret:NAME}"}</code>{"  "}
            in a server's headers, variables, arguments or URL. Its configuration then contains only
            the name.
          </EmptyState>
        )}
      <FormCard
        id="set-secret"
        title="Set a secret"
        action={PATH}
        busy="Setting…"
        fields={{ action: "set" }}
      >
        <OperationFields
          id="secret"
          operation={SECRET_OPERATIONS.set}
          values={{ name: draft }}
          problems={problems}
          fields={{
            name: {
              isName: true,
              hint: "Letters, digits and _. Using an existing name replaces its value.",
            },
            value: {
              isName: true,
              type: "password",
              hint: (
                <>
                  One line. For several lines, use{" "}
                  <code>quartermaster secrets set NAME</code>. The value is never shown.
                </>
              ),
            },
          }}
        />
        <div class="form-actions">
          <button type="submit" class="button button-primary">Set secret</button>
        </div>
      </FormCard>
    </SecurityPage>
  );
});

function SecretsTable({ secrets }: Pick<SecretsPage, "secrets">) {
  return (
    <Card title="Secrets" aside={formatCount(secrets.length, "secret")} isFlush>
      <DataTable
        caption="Secrets"
        class="secrets-table"
        rows={secrets}
        keyOf={({ name }) => name}
        columns={[
          {
            head: "Name",
            cell: ({ name, problem }) => (
              <>
                <span class="mono strong">{name}</span>{" "}
                <CopyButton value={secretReference(name)} label={`Copy the reference to ${name}`} />
                {problem !== undefined && (
                  <span class="cell-note tone-bad">
                    <Icon name="error" size={14} /> {problem}
                  </span>
                )}
              </>
            ),
          },
          { head: "Set", class: "muted", cell: ({ setAt }) => <Ago at={setAt} /> },
          {
            head: "Used by",
            cell: ({ usedBy }) => (
              <p>
                {usedBy.length === 0
                  ? <span class="muted">no server</span>
                  : <Servers names={usedBy} />}
              </p>
            ),
          },
          { head: "Actions", isQuiet: true, class: "col-actions", cell: SecretActions },
        ]}
      />
    </Card>
  );
}

function SecretActions({ name, usedBy }: SecretsPage["secrets"][number]) {
  const effect = usedBy.length === 0
    ? "No server uses it."
    : `${formatCount(usedBy.length, "server")} (${
      usedBy.join(", ")
    }) cannot start until it is set again.`;
  return (
    <div class="actions">
      <a class="button" href={`${PATH}?name=${name}#set-secret`}>
        Change <span class="visually-hidden">{name}</span>
      </a>
      <Confirm
        id={`delete-${name}`}
        label="Delete"
        subject={name}
        title={`Delete ${name}?`}
        action={PATH}
        fields={{ action: "delete", name }}
        verb="Delete secret"
        busy="Deleting…"
        isDangerous
      >
        {effect} Its value cannot be recovered.
      </Confirm>
    </div>
  );
}

function Servers({ names }: { names: string[] }) {
  return (
    <>
      {names.map((name, index) => (
        <span key={name}>
          {index > 0 && ", "}
          <a class="mono" href={serverPath(name)}>{name}</a>
        </span>
      ))}
    </>
  );
}
