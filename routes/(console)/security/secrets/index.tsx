import { page } from "fresh";
import { BusyForms } from "../../../../islands/forms.tsx";
import { changeSecrets, type SecretsPage, secretsPage } from "./(_page)/model.ts";
import { secretReference } from "../../../../lib/core/secret_reference.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { serverPath } from "../../../../lib/console/ui/pages.ts";
import { Ago, CopyButton, InertText } from "../../../../components/text.tsx";
import { Card, PageHeader } from "../../../../components/layout.tsx";
import { Confirm, Field, FormCard, FormFailure, NameField } from "../../../../components/forms.tsx";
import { EmptyState, Notice } from "../../../../components/states.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { SecurityTabs } from "../(_components)/tabs.tsx";
import { callOf } from "../../../../lib/console/api.ts";
import { define, formOf } from "../../../../lib/console/define.ts";
import { submitForm } from "../../../../lib/console/errors.ts";

export const handler = define.handlers<SecretsPage>({ GET: ["read", "manage"], POST: ["manage"] }, {
  async GET(ctx) {
    ctx.state.title = "Secrets";
    return page(await secretsPage(ctx.state.gateway, ctx.url.searchParams));
  },

  async POST(ctx) {
    ctx.state.title = "Secrets";
    const { gateway } = ctx.state;
    const form = await formOf(ctx);
    return await submitForm(
      ctx,
      async () => `${PATH}?done=${await changeSecrets(gateway, form, callOf(ctx, "console"))}`,
      (error) => secretsPage(gateway, form, error),
    );
  },
});

/** The names of all secrets, and the form that sets one. */
export default define.page<typeof handler>(function SecretsPage({ data: page }) {
  const { secrets, missing, unavailable, done, error } = page;
  return (
    <div class="stack" data-live="servers settings">
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
    </div>
  );
});

const PATH = "/security/secrets";

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
    <FormCard
      id="set-secret"
      title="Set a secret"
      action={PATH}
      busy="Setting…"
      fields={{ change: "set" }}
    >
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
            <code>quartermaster secrets set NAME</code>. It is not shown while you type, nor later.
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
