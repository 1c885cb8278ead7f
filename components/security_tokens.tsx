import BusyForms from "../islands/busy_forms.tsx";
import type { TokenRow, TokensPage } from "../lib/console/security_tokens.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { ClientSnippets } from "./client_snippets.tsx";
import { CodeBlock } from "./code_block.tsx";
import { Confirm } from "./confirm.tsx";
import { EmptyState } from "./empty_state.tsx";
import { FormFailure } from "./form_failure.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { PageHeader } from "./page_header.tsx";
import { SecurityTabs } from "./security_tabs.tsx";
import { TokenForm } from "./security_token_form.tsx";

/** All tokens, one that was just made, and the form for another. */
export function Tokens({ page }: { page: TokensPage }) {
  const { tokens, made, error, isRequired } = page;
  return (
    <>
      <BusyForms />
      <PageHeader
        title="Tokens"
        lead={tokens.length === 0
          ? "What clients and browsers come in with"
          : `${formatCount(tokens.length, "token")}; ${
            isRequired ? "nobody comes in without one" : "none is asked for on this machine"
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
            A token lets a client or a browser in, and says what it may see and do. {isRequired
              ? "You came in with one that is kept elsewhere."
              : "On this machine none is needed; others could not come in without one."}
          </EmptyState>
        )}
      <TokenForm page={page} />
    </>
  );
}

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
      <ClientSnippets door={made.door} snippets={made.snippets} />
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
        {project === undefined ? null : <p class="muted small">Project {project} alone</p>}
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
      Whoever uses it is not let in any more, at any gateway on this data.{" "}
      {sessions > 0 ? `${formatCount(sessions, "client")} connected by it will be cut off. ` : ""}
      {isOwn ? "You came in by it yourself, and will be logged out. " : ""}It cannot be undone.
    </Confirm>
  );
}
