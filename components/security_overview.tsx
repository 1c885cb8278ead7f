import type { SecurityOverview as Overview } from "../lib/console/security_overview.ts";
import { formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { Card } from "./card.tsx";
import { Fact, Facts } from "./facts.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { PageHeader } from "./page_header.tsx";
import { SecurityTabs } from "./security_tabs.tsx";

/** Who may come in, and the way to everything else that is guarded. */
export function SecurityOverview({ overview }: { overview: Overview }) {
  return (
    <>
      <PageHeader
        title="Security"
        lead="Who may come in, what may run, what may change"
        action={<a class="button button-primary" href="/security/tokens#new-token">New token</a>}
      />
      <SecurityTabs current="/security" />
      <div class="columns">
        <ComingIn overview={overview} />
        <Caller overview={overview} />
      </div>
      <Places overview={overview} />
    </>
  );
}

function ComingIn({ overview: { isRequired, reasons } }: { overview: Overview }) {
  return (
    <Card title="Coming in">
      <div class="stack">
        <p class={isRequired ? "state tone-ok" : "state tone-quiet"}>
          <Icon name={isRequired ? "lock" : "info"} size={14} />
          {isRequired ? "Nobody comes in without a token" : "No token is asked for"}
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
            <form method="post" action="/logout" f-client-nav={false}>
              <button type="submit" class="button">Log out</button>
            </form>
            <form method="post" action="/logout" f-client-nav={false}>
              <button type="submit" class="button" name="everywhere" value="yes">
                Log out everywhere
              </button>
            </form>
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
    aside: count === 0 ? "nothing waits" : `${formatNumber(count)} waiting`,
    isWaiting: count > 0,
  });
  const places: Place[] = [
    {
      href: "/security/tokens",
      icon: "lock",
      title: "Tokens",
      text: "What clients and browsers come in with",
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
      text: "Calls that wait for a yes, and what may be called through a toolset",
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
