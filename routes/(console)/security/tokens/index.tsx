import { page } from "fresh";
import { makeToken, type TokenRow, type TokensPage, tokensPage } from "./(_page)/model.ts";
import { formatCount, inertString } from "../../../../lib/console/ui/format.ts";
import { Ago, CodeBlock, Day, InertText } from "../../../../components/text.tsx";
import { Card } from "../../../../components/layout.tsx";
import { ClientSnippets } from "../../../../components/client_snippets.tsx";
import { Confirm } from "../../../../components/forms.tsx";
import { EmptyState, Notice } from "../../../../components/states.tsx";
import { Badge } from "../../../../components/badges.tsx";
import { DataTable } from "../../../../components/tables.tsx";
import { SecurityPage } from "../(_components)/page.tsx";
import { TokenForm } from "./(_components)/token_form.tsx";
import { callOf } from "../../../../lib/console/api.ts";
import { ACCESS_OPERATIONS } from "../../../../lib/operations/access.ts";
import { runOperation } from "../../../../lib/operations/operation.ts";
import { define, formOf } from "../../../../lib/console/define.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";

const PATH = "/security/tokens";
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
        return ctx.redirect(PATH, 303);
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
    <SecurityPage
      path={PATH}
      outcome={{ refused: error }}
      lead={tokens.length === 0
        ? "Credentials for clients and browsers"
        : `${formatCount(tokens.length, "token")}; ${
          isRequired ? "required for every request" : "not required on this machine"
        }`}
      action={<a class="button button-primary" href="#new-token">New token</a>}
    >
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
      <TokenForm page={page} operation={ACCESS_OPERATIONS.createToken} />
    </SecurityPage>
  );
});

function Made({ made }: { made: NonNullable<TokensPage["made"]> }) {
  return (
    <>
      <section class="card token-made" role="status">
        <header class="card-head">
          <h2>
            Token <InertText text={made.name} /> was created
          </h2>
        </header>
        <div class="card-body stack">
          <Notice tone="warn" role={null}>
            Copy it now: it will not be shown again.
          </Notice>
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
      <DataTable
        caption="Tokens"
        class="tokens-table"
        rows={tokens}
        keyOf={({ id }) => id}
        columns={[
          {
            head: "Name",
            cell: ({ id, name, isOwn }) => (
              <>
                <p class="cut strong" title={inertString(name)}>
                  <InertText text={name} />
                </p>
                {isOwn && <span class="badge tone-accent">Yours</span>}
                <p class="muted small mono">{id}</p>
              </>
            ),
          },
          { head: "Rights", cell: ({ rights }) => rights.join(", ") },
          {
            head: "Limits",
            cell: ({ scope, project, limit }) => (
              <>
                <p>{scope}</p>
                {project !== undefined && <p class="muted small">Project {project} only</p>}
                {limit !== undefined && <p class="muted small">{limit}</p>}
              </>
            ),
          },
          {
            head: "Last used",
            cell: ({ lastUsedAt }) => lastUsedAt === undefined ? "never" : <Ago at={lastUsedAt} />,
          },
          {
            head: "Expires",
            cell: ({ expiresAt, isExpired }) =>
              expiresAt === undefined
                ? "never"
                : isExpired
                ? <Badge tone="bad" icon="error">Expired</Badge>
                : <Day at={expiresAt} />,
          },
          {
            head: "Actions",
            isQuiet: true,
            class: "col-actions",
            cell: (row) => (
              <div class="actions">
                <Revoke row={row} />
              </div>
            ),
          },
        ]}
      />
    </Card>
  );
}

function Revoke({ row: { id, name, sessions, isOwn } }: { row: TokenRow }) {
  const shown = inertString(name);
  return (
    <Confirm
      id={`revoke-${id}`}
      label="Revoke"
      subject={shown}
      title={`Revoke ${shown}?`}
      action={PATH}
      fields={{ change: "revoke", id }}
      verb="Revoke token"
      busy="Revoking…"
      isDangerous
    >
      It stops working on every gateway that uses this data store. {sessions > 0
        ? `${formatCount(sessions, "client")} connected with it will be disconnected. `
        : ""}
      {isOwn ? "You signed in with it and will be logged out. " : ""}This cannot be undone.
    </Confirm>
  );
}
