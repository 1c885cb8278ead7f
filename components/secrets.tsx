import BusyForms from "../islands/busy_forms.tsx";
import type { SecretsPage } from "../lib/console/security_secrets.ts";
import { secretReference } from "../lib/core/secret_reference.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { serverPath } from "../lib/console/ui/paths.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { Confirm } from "./confirm.tsx";
import { CopyButton } from "./copy_button.tsx";
import { EmptyState } from "./empty_state.tsx";
import { Field } from "./field.tsx";
import { FormCard } from "./form_card.tsx";
import { FormFailure } from "./form_failure.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { NameField } from "./name_field.tsx";
import { Notice } from "./notice.tsx";
import { PageHeader } from "./page_header.tsx";
import { SecurityTabs } from "./security_tabs.tsx";

const PATH = "/security/secrets";

/** The names of all secrets, and the form that sets one. */
export function Secrets({ page }: { page: SecretsPage }) {
  const { secrets, missing, unavailable, done, error } = page;
  return (
    <>
      <BusyForms />
      <PageHeader
        title="Secrets"
        lead="Kept encrypted, and filled into a server's entry when it is started; never shown again"
        action={<a class="button button-primary" href="#set-secret">Set a secret</a>}
      />
      <SecurityTabs current={PATH} />
      {done === undefined ? null : <Notice tone="ok">{done}</Notice>}
      {error === undefined ? null : <FormFailure error={error} title="Nothing is changed" />}
      {unavailable === undefined ? null : (
        <Notice tone="warn">
          <InertText text={unavailable} />
        </Notice>
      )}
      {missing.map(({ name, usedBy }) => (
        <Notice key={name} tone="warn">
          <span class="mono strong">{name}</span> is not set, and <Servers names={usedBy} />{" "}
          {usedBy.length === 1 ? "refers" : "refer"} to it.{" "}
          <a href={`${PATH}?name=${name}#set-secret`}>Set {name}</a>
        </Notice>
      ))}
      {secrets.length > 0
        ? <SecretsTable secrets={secrets} />
        : (
          <EmptyState icon="lock" title="No secrets yet">
            Set one, and write <code>{"${secret:NAME}"}</code>{" "}
            in a server's entry: in its headers, variables, arguments or address. The entry then
            holds the name alone.
          </EmptyState>
        )}
      <SetSecret draft={page.draft} nameProblem={page.nameProblem} />
    </>
  );
}

function SecretsTable({ secrets }: Pick<SecretsPage, "secrets">) {
  return (
    <Card title="Secrets" aside={formatCount(secrets.length, "secret")} isFlush>
      <table class="table secrets-table is-text">
        <caption class="visually-hidden">Secrets</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" class="col-since hide-small">Set</th>
            <th scope="col" class="hide-small">Used by</th>
            <th scope="col" class="col-actions">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {secrets.map((secret) => <SecretRow key={secret.name} secret={secret} />)}
        </tbody>
      </table>
    </Card>
  );
}

function SecretRow({ secret }: { secret: SecretsPage["secrets"][number] }) {
  const { name, setAt, usedBy, problem } = secret;
  return (
    <tr>
      <td>
        <span class="mono strong">{name}</span>{" "}
        <CopyButton value={secretReference(name)} label={`Copy the reference to ${name}`} />
        <p class="only-small muted small">
          set <Ago at={setAt} />
        </p>
        {problem === undefined ? null : (
          <span class="cell-note tone-bad">
            <Icon name="error" size={14} /> {problem}
          </span>
        )}
      </td>
      <td class="muted hide-small">
        <Ago at={setAt} />
      </td>
      <td class="hide-small">
        {usedBy.length === 0 ? <span class="muted">no server</span> : <Servers names={usedBy} />}
      </td>
      <td>
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
            fields={{ change: "delete", name }}
            verb="Delete secret"
            busy="Deleting…"
            isDangerous
          >
            {usedBy.length === 0
              ? "No server uses it. Its value is gone for good."
              : `${formatCount(usedBy.length, "server")} (${
                usedBy.join(", ")
              }) cannot be started until it is set again. Its value is gone for good.`}
          </Confirm>
        </div>
      </td>
    </tr>
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

function SetSecret(
  { draft, nameProblem }: { draft: string; nameProblem: string | undefined },
) {
  return (
    <FormCard id="set-secret" title="Set a secret" action={PATH} busy="Setting…">
      <input type="hidden" name="change" value="set" />
      <NameField
        id="secret-name"
        name="name"
        label="Name"
        hint="Letters, digits and _. One that is there already gets the value below."
        value={draft}
        pattern="[A-Za-z_][A-Za-z0-9_]{0,63}"
        title="1 to 64 letters, digits or _, not beginning with a digit"
        maxLength={64}
        isRequired
        problem={nameProblem}
      />
      <Field
        id="secret-value"
        label="Value"
        hint={
          <>
            One line; the command line takes more:{" "}
            <code>deno task cli secrets set NAME</code>. It is not shown while you type, nor later.
          </>
        }
      >
        <input
          id="secret-value"
          class="input mono"
          name="value"
          type="password"
          required
          autocomplete="off"
          aria-describedby="secret-value-hint"
        />
      </Field>
      <div class="form-actions">
        <button type="submit" class="button button-primary">Set secret</button>
      </div>
    </FormCard>
  );
}
