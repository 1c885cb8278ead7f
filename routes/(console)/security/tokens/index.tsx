import { page } from "fresh";
import { BusyForms } from "../../../../islands/forms.tsx";
import { makeToken, type TokenRow, type TokensPage, tokensPage } from "./(_page)/model.ts";
import { formatCount, inertString } from "../../../../lib/console/ui/format.ts";
import { Ago, CodeBlock, InertText } from "../../../../components/text.tsx";
import { Card, PageHeader } from "../../../../components/layout.tsx";
import { ClientSnippets } from "../../../../components/client_snippets.tsx";
import { Confirm, FormFailure } from "../../../../components/forms.tsx";
import { EmptyState } from "../../../../components/states.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { SecurityTabs } from "../(_components)/tabs.tsx";
import { TokenForm } from "./(_components)/token_form.tsx";
import { callOf } from "../../../../lib/console/api.ts";
import { ACCESS_OPERATIONS } from "../../../../lib/operations/access.ts";
import { runOperation } from "../../../../lib/operations/operation.ts";
import { define, formOf } from "../../../../lib/console/define.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";

// A page with a token on it is kept by nobody.
const NO_STORE = { "cache-control": "no-store" };

export const handler = define.handlers<TokensPage>({ GET: ["read", "manage"], POST: ["manage"] }, {
  async GET(ctx) {
    ctx.state.title = "Tokens";
    const { gateway, principal } = ctx.state;
    return page(await tokensPage(gateway, principal, ctx.url.searchParams), { headers: NO_STORE });
  },

  async POST(ctx) {
    ctx.state.title = "Tokens";
    const { gateway, principal } = ctx.state;
    const form = await formOf(ctx);
    const call = callOf(ctx, "console");
    try {
      if (form.get("change") === "revoke") {
        const token = form.get("id") ?? "";
        await runOperation(ACCESS_OPERATIONS.revokeToken, gateway, { token }, call);
        return ctx.redirect("/security/tokens", 303);
      }
      return page(await makeToken(gateway, form, call), { status: 201, headers: NO_STORE });
    } catch (error) {
      if (!(error instanceof GatewayError) || error.httpStatus >= 500) throw error;
      const shown = await tokensPage(gateway, principal, form, error);
      return page(shown, { status: error.httpStatus, headers: NO_STORE });
    }
  },
});

/** All tokens, one that was just made, and the form for another. */
export default define.page<typeof handler>(function TokensPage({ data: page }) {
  const { tokens, made, error, isRequired } = page;
  // Not live: what is shown once, or half written in the form, must not be replaced.
  return (
    <div class="stack">
      <BusyForms />
      <PageHeader
        title="Tokens"
        lead={tokens.length === 0
          ? "Credentials for clients and browsers"
          : `${formatCount(tokens.length, "token")}; ${
            isRequired ? "required for every request" : "not required on this machine"
          }`}
        action={<a class="button button-primary" href="#new-token">New token</a>}
      />
      <SecurityTabs current="/security/tokens" />
      {error === undefined ? null : <FormFailure error={error} title="Nothing is changed" />}
      {made === undefined ? null : <Made made={made} />}
      {tokens.length > 0
        ? <TokensTable tokens={tokens} />
        : (
          <EmptyState icon="lock" title="No tokens yet">
            A token gives a client or a browser access, and limits what it may see and do.{" "}
            {isRequired
              ? "You signed in with one that is stored elsewhere."
              : "Not required on this machine; other machines cannot connect without one."}
          </EmptyState>
        )}
      <TokenForm page={page} />
    </div>
  );
});

function Made({ made }: { made: NonNullable<TokensPage["made"]> }) {
  return (
    <>
      <section class="card token-made" role="status">
        <header class="card-head">
          <h2>
            Token <InertText text={made.name} /> is made
          </h2>
        </header>
        <div class="card-body stack">
          <p class="notice tone-warn">
            <Icon name="alert" size={14} />
            <span>Copy it now: it is shown this once, and cannot be had again.</span>
          </p>
          <CodeBlock code={made.text} label="the token" />
        </div>
      </section>
      <ClientSnippets endpoint={made.endpoint} snippets={made.snippets} />
    </>
  );
}

function TokensTable({ tokens }: { tokens: TokenRow[] }) {
  return (
    <Card isFlush>
      <table class="table tokens-table is-text">
        <caption class="visually-hidden">Tokens</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" class="hide-small">Rights</th>
            <th scope="col" class="hide-small">Admits</th>
            <th scope="col" class="hide-small">Last used</th>
            <th scope="col" class="hide-small">Expires</th>
            <th scope="col" class="col-actions">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>{tokens.map((row) => <Row key={row.id} row={row} />)}</tbody>
      </table>
    </Card>
  );
}

function Row({ row }: { row: TokenRow }) {
  const { id, name, rights, scope, project, limit, lastUsedAt, expiresAt, isExpired } = row;
  return (
    <tr>
      <td>
        <p class="cut strong" title={inertString(name)}>
          <InertText text={name} />
        </p>
        {row.isOwn && <span class="badge tone-accent">Yours</span>}
        <p class="muted small mono">{id}</p>
        <p class="only-small muted small">
          {rights.join(", ")};{" "}
          {expiresAt === undefined ? "never expires" : isExpired ? "expired" : (
            <>
              expires <Day at={expiresAt} />
            </>
          )}
        </p>
      </td>
      <td class="hide-small">{rights.join(", ")}</td>
      <td class="hide-small">
        <p>{scope}</p>
        {project === undefined ? null : <p class="muted small">Project {project} only</p>}
        {limit === undefined ? null : <p class="muted small">{limit}</p>}
      </td>
      <td class="hide-small">{lastUsedAt === undefined ? "never" : <Ago at={lastUsedAt} />}</td>
      <td class="hide-small">
        {expiresAt === undefined
          ? "never"
          : isExpired
          ? <span class="badge tone-bad">Expired</span>
          : <Day at={expiresAt} />}
      </td>
      <td>
        <div class="actions">
          <Revoke row={row} />
        </div>
      </td>
    </tr>
  );
}

function Day({ at }: { at: number }) {
  const exact = new Date(at).toISOString();
  return <time dateTime={exact} title={exact}>{exact.slice(0, 10)}</time>;
}

function Revoke({ row: { id, name, sessions, isOwn } }: { row: TokenRow }) {
  const shown = inertString(name);
  return (
    <Confirm
      id={`revoke-${id}`}
      label="Revoke"
      subject={shown}
      title={`Revoke ${shown}?`}
      action="/security/tokens"
      fields={{ change: "revoke", id }}
      verb="Revoke token"
      busy="Revoking…"
      isDangerous
    >
      It stops working at every gateway on this data. {sessions > 0
        ? `${formatCount(sessions, "client")} connected with it will be disconnected. `
        : ""}
      {isOwn ? "You signed in with it and will be logged out. " : ""}It cannot be undone.
    </Confirm>
  );
}
