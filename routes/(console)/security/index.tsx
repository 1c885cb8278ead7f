import { page } from "fresh";
import { type SecurityOverview as Overview, securityOverview } from "./(_page)/model.ts";
import { formatCount, formatNumber } from "../../../lib/console/ui/format.ts";
import { Card, Fact, Facts, PageHeader } from "../../../components/layout.tsx";
import { Icon, type IconName } from "../../../components/icon.tsx";
import { InertText } from "../../../components/text.tsx";
import { SecurityTabs } from "./(_components)/tabs.tsx";
import { define } from "../../../lib/console/define.ts";
import { PostForm } from "../../../components/forms.tsx";

export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    ctx.state.title = "Security";
    return page(await securityOverview(ctx.state.gateway, ctx.state.principal, ctx.req));
  },
});

/** Who may come in, and the way to everything else that is guarded. */
export default define.page<typeof handler>(function SecurityPage({ data: overview }) {
  return (
    <div class="stack" data-live="settings sessions servers tools">
      <PageHeader
        title="Security"
        lead="Who may connect, what may run, what may change"
        action={<a class="button button-primary" href="/security/tokens#new-token">New token</a>}
      />
      <SecurityTabs current="/security" />
      <div class="columns">
        <ComingIn overview={overview} />
        <Caller overview={overview} />
      </div>
      <Places overview={overview} />
    </div>
  );
});

function ComingIn({ overview: { isRequired, reasons } }: { overview: Overview }) {
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
            to ask for one here too. A token that is sent counts either way: its owner sees what the
            token admits.
          </p>
        )}
      </div>
    </Card>
  );
}

function Caller({ overview: { caller, isLoggedIn } }: { overview: Overview }) {
  return (
    <Card title="You">
      <div class="stack">
        {caller === undefined ? <p>Everyone on this machine, with every right.</p> : (
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
            <PostForm action="/logout">
              <button type="submit" class="button">Log out</button>
            </PostForm>
            <PostForm action="/logout">
              <button type="submit" class="button" name="everywhere" value="yes">
                Log out everywhere
              </button>
            </PostForm>
          </div>
        )}
      </div>
    </Card>
  );
}

interface Place {
  href: string;
  icon: IconName;
  title: string;
  text: string;
  aside?: string;
  /** Whether somebody has to decide there. */
  isWaiting?: boolean;
}

function Places({ overview }: { overview: Overview }) {
  const { tokens, expired, projects, secrets, waiting } = overview;
  const decided = (count: number) => ({
    aside: count === 0 ? "none pending" : `${formatNumber(count)} waiting`,
    isWaiting: count > 0,
  });
  const places: Place[] = [
    {
      href: "/security/tokens",
      icon: "lock",
      title: "Tokens",
      text: "Credentials for clients and browsers",
      aside: formatCount(tokens, "token") + (expired > 0 ? `, ${expired} expired` : ""),
    },
    {
      href: "/security/projects",
      icon: "toolsets",
      title: "Projects",
      text: "Servers that belong together, for tokens of their own",
      aside: formatCount(projects, "project"),
    },
    {
      href: "/security/review",
      icon: "alert",
      title: "Review",
      text: "What servers change about their tools, and what looks like an attack",
      ...decided(waiting.review),
    },
    {
      href: "/security/consents",
      icon: "servers",
      title: "Consents",
      text: "Programs that others want to have run on the gateway's machine",
      ...decided(waiting.consents),
    },
    {
      href: "/security/approvals",
      icon: "paused",
      title: "Approvals",
      text: "Calls that wait for approval, and what may be called through a toolset",
      ...decided(waiting.approvals),
    },
    {
      href: "/security/secrets",
      icon: "store",
      title: "Secrets",
      text: "Values that servers' entries refer to, kept encrypted",
      aside: formatCount(secrets, "secret"),
    },
    {
      href: "/security/audit",
      icon: "file",
      title: "Audit log",
      text: "Who changed what, from where and when",
    },
  ];
  return (
    <Card isFlush>
      <ul class="rows">
        {places.map(({ href, icon, title, text, aside, isWaiting }) => (
          <li key={href} class="row row-link place">
            <Icon name={icon} size={14} />
            <div class="row-text">
              <a class="cover strong" href={href}>{title}</a>
              <p class="muted small">{text}</p>
            </div>
            {aside === undefined
              ? null
              : <span class={isWaiting ? "row-aside tone-warn strong" : "row-aside"}>{aside}</span>}
          </li>
        ))}
      </ul>
    </Card>
  );
}
