import { page } from "fresh";
import { type SecurityOverview as Overview, securityOverview } from "./(_page)/model.ts";
import { formatCount } from "../../../lib/console/ui/format.ts";
import { Card, Fact, Facts } from "../../../components/layout.tsx";
import { Icon } from "../../../components/icon.tsx";
import { InertText } from "../../../components/text.tsx";
import { SecurityPage } from "./(_components)/page.tsx";
import { define } from "../../../lib/console/define.ts";
import { PostButton } from "../../../components/forms.tsx";

export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    ctx.state.title = "Security";
    return page(await securityOverview(ctx.state.gateway, ctx.state.principal, ctx.req));
  },
});

/** Who may connect, and what waits for a decision. */
export default define.page<typeof handler>(function SecurityOverview({ data: overview }) {
  return (
    <SecurityPage
      path="/security"
      title="Security"
      live="settings sessions servers tools"
      lead="Who may connect, what may run, what may change"
      action={<a class="button button-primary" href="/security/tokens#new-token">New token</a>}
    >
      <Waiting waiting={overview.waiting} />
      <div class="columns">
        <AccessCard overview={overview} />
        <Caller overview={overview} />
      </div>
    </SecurityPage>
  );
});

const WAITING = [
  ["review", "Review", "item", "Changed tools, and tools that look like attacks"],
  ["consents", "Consents", "request", "Programs that others want to run on the gateway's machine"],
  ["approvals", "Approvals", "call", "Calls waiting for approval"],
] as const;

function Waiting({ waiting }: Pick<Overview, "waiting">) {
  return (
    <Card title="Waiting for your decision" isFlush>
      <ul class="rows">
        {WAITING.map(([page, title, noun, text]) => (
          <li key={page} class="row row-link place">
            <Icon name={waiting[page] > 0 ? "alert" : "ready"} size={14} />
            <div class="row-text">
              <a class="cover strong" href={`/security/${page}`}>{title}</a>
              <p class="muted small">{text}</p>
            </div>
            <span class={waiting[page] > 0 ? "row-aside tone-warn strong" : "row-aside"}>
              {waiting[page] > 0 ? formatCount(waiting[page], noun) : "none"}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function AccessCard({ overview }: { overview: Overview }) {
  const { isRequired, reasons, tokens, expired, projects, secrets } = overview;
  return (
    <Card title="Access">
      <div class="stack">
        <p class={isRequired ? "state tone-ok" : "state tone-quiet"}>
          <Icon name={isRequired ? "lock" : "info"} size={14} />
          {isRequired ? "A token is required" : "No token is required"}
        </p>
        <ul class="security-reasons">
          {reasons.map((reason) => <li key={reason}>{reason}</li>)}
        </ul>
        {isRequired ? null : (
          <p class="muted small">
            Start the gateway with <code>--require-token</code>{" "}
            to require one on this machine too. If a request includes a token, the token's limits
            apply either way.
          </p>
        )}
        <Facts>
          <Fact name="Tokens">
            {formatCount(tokens, "token") + (expired > 0 ? `, ${expired} expired` : "")}
          </Fact>
          <Fact name="Projects">{formatCount(projects, "project")}</Fact>
          <Fact name="Secrets">{formatCount(secrets, "secret")}</Fact>
        </Facts>
      </div>
    </Card>
  );
}

function Caller({ overview: { caller, isLoggedIn } }: { overview: Overview }) {
  return (
    <Card title="You">
      <div class="stack">
        {caller === undefined ? <p>Everyone on this machine has every right.</p> : (
          <Facts>
            <Fact name="Token">
              <InertText text={caller.name} />
            </Fact>
            <Fact name="Rights">{caller.rights.join(", ")}</Fact>
            {caller.isAdmin && (
              <Fact name="From">
                <code>QUARTERMASTER_ADMIN_TOKEN</code>
              </Fact>
            )}
          </Facts>
        )}
        {isLoggedIn && (
          <div class="form-actions">
            <PostButton action="/logout" label="Log out" />
            <PostButton
              action="/logout"
              fields={{ everywhere: "yes" }}
              label="Log out everywhere"
            />
          </div>
        )}
      </div>
    </Card>
  );
}
