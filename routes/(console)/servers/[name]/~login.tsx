import { page } from "fresh";
import { Ago, InertText } from "../../../../components/text.tsx";
import { Card, Fact, Facts, PageHeader } from "../../../../components/layout.tsx";
import { Confirm, Field, FormFailure, NameField, PostForm } from "../../../../components/forms.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { callOf } from "../../../../lib/console/api.ts";
import { define, formOf } from "../../../../lib/console/define.ts";
import { serverPath } from "../../../../lib/console/ui/pages.ts";
import type { AttemptView, LoginView } from "../../../../lib/operations/login_admin.ts";
import { beginLogin, type LoginPage, loginPage, loginPath, logoutPath } from "./(_page)/login.ts";

export const handler = define.handlers({ GET: ["read"], POST: ["manage"] }, {
  async GET(ctx) {
    const name = ctx.params.name ?? "";
    const attempt = ctx.url.searchParams.get("attempt");
    const data = await loginPage(ctx.state.gateway, name, attempt);
    ctx.state.title = `Log in to ${name}`;
    return page(data);
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const name = ctx.params.name ?? "";
    const begun = await beginLogin(gateway, name, await formOf(ctx), callOf(ctx, "console"));
    if (typeof begun === "string") return ctx.redirect(begun, 303);
    ctx.state.title = `Log in to ${name}`;
    return page(begun, { status: 400 });
  },
});

/** Logs in to a server, or out of it. */
export default define.page<typeof handler>(function LoginRoute({ data: page }) {
  const { server, login, attempt, error, refusal } = page;
  const isWaiting = attempt?.url !== undefined;
  return (
    <div class="stack">
      <PageHeader
        title={
          <>
            Log in to <span class="mono">{server.name}</span>
          </>
        }
        lead="You log in with the server's authorization server. The gateway stores the resulting tokens encrypted and sends them only to this server."
        action={<a class="button" href={serverPath(server.name)}>Back to server</a>}
      />
      {error === undefined ? null : <FormFailure error={error} title="The login could not start" />}
      {attempt === undefined ? null : <Attempt attempt={attempt} />}
      {page.isAttemptOver && (
        <div class="notice tone-warn" role="status">
          <Icon name="alert" size={14} />
          <p>The login expired after 10 minutes. Start again.</p>
        </div>
      )}
      {login === undefined ? null : <Present server={server.name} login={login} />}
      {isWaiting ? null : refusal === undefined ? <Begin page={page} /> : (
        <div class="notice">
          <Icon name="info" size={14} />
          <p>
            Login is not available: <InertText text={refusal} />.
          </p>
        </div>
      )}
    </div>
  );
});

const CLIENTS = {
  given: "a client ID you entered",
  registered: "registered by this gateway",
  document: "this gateway's own metadata document",
} as const;

function Attempt({ attempt }: { attempt: AttemptView }) {
  const { url, outcome } = attempt;
  if (outcome?.kind === "failed") {
    return (
      <div class="notice tone-bad" role="alert">
        <Icon name="error" size={14} />
        <p>
          The login failed: <InertText text={outcome.reason} />
        </p>
      </div>
    );
  }
  if (url === undefined) return null;
  const { host } = new URL(url);
  return (
    <Card title="Continue at the authorization server">
      <Facts>
        <Fact name="Host">
          <InertText as="span" class="mono" text={host} />
        </Fact>
        <Fact name="Rights">
          <Scopes scopes={attempt.scopes ?? []} />
        </Fact>
      </Facts>
      <div class="form-actions">
        {/* A link, not a redirect: pages of this gateway never send a form anywhere else. */}
        <a class="button button-primary" href={url} rel="noreferrer" f-client-nav={false}>
          Continue to {host}
        </a>
      </div>
    </Card>
  );
}

function Present({ server, login }: { server: string; login: LoginView }) {
  return (
    <Card title={login.isActive ? "You are logged in" : "The login is no longer valid"}>
      <Facts>
        {login.trouble === undefined ? null : (
          <Fact name="Reason">
            <InertText text={login.trouble} />
          </Fact>
        )}
        <Fact name="Authorization server">
          <InertText as="span" class="mono" text={login.issuer} />
        </Fact>
        <Fact name="Client">
          <InertText as="span" class="mono" text={login.clientId} />{" "}
          <span class="muted">{CLIENTS[login.clientOrigin]}</span>
        </Fact>
        <Fact name="Rights">
          <Scopes scopes={login.scopes} />
        </Fact>
        <Fact name="Since">
          <Ago at={login.loggedInAt} />
        </Fact>
      </Facts>
      <div class="form-actions">
        <Confirm
          id="log-out"
          label="Log out"
          subject={server}
          title={`Log out of ${server}?`}
          action={logoutPath(server)}
          verb="Log out"
          isDangerous
        >
          The gateway forgets the login and asks the authorization server to revoke it. The server's
          tools stop working until someone logs in again.
        </Confirm>
      </div>
    </Card>
  );
}

function Scopes({ scopes }: { scopes: string[] }) {
  if (scopes.length === 0) {
    return <span class="muted">the authorization server's default</span>;
  }
  return <InertText as="span" class="mono" text={scopes.join(", ")} />;
}

function Begin({ page }: { page: LoginPage }) {
  const { server, clientId, login } = page;
  return (
    <Card {...(login?.isActive ? { title: "Log in again" } : {})}>
      <PostForm
        class="form form-wide"
        action={loginPath(server.name)}
        busy="Contacting the server…"
      >
        {server.state === "needs_login" && <InertText as="p" text={server.reason} />}
        <details class="edit-words" open={clientId !== "" || page.error !== undefined}>
          <summary>Use your own client ID</summary>
          <div class="form">
            <NameField
              id="client_id"
              name="client_id"
              label="Client ID"
              hint="Required only if the authorization server does not let clients register themselves."
              value={clientId}
              maxLength={2000}
            />
            <Field id="client_secret" label="Client secret" hint="Leave empty if there is none.">
              <input
                id="client_secret"
                class="input mono"
                type="password"
                name="client_secret"
                maxLength={2000}
                autocomplete="off"
                aria-describedby="client_secret-hint"
              />
            </Field>
          </div>
        </details>
        <div class="form-actions">
          <button type="submit" class={login?.isActive ? "button" : "button button-primary"}>
            Log in
          </button>
        </div>
      </PostForm>
    </Card>
  );
}
