import type { DashboardPage } from "../lib/console/dashboard_page.ts";
import type { Problem } from "../lib/config/problem.ts";
import type { AttentionItem } from "../lib/console/attention.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { serverPath } from "../lib/console/ui/paths.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { FixButtons } from "./fix_buttons.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { StateBadge } from "./state_badge.tsx";

/** What needs a person: servers that do not work, and places in the configuration to correct. */
export function AttentionList({ page }: { page: DashboardPage }) {
  const { attention, moreAttention, items, moreItems, problems, moreProblems, storeTrouble } = page;
  const total = attention.length + moreAttention + items.length + moreItems + problems.length +
    moreProblems;
  if (total === 0 && storeTrouble === undefined) return null;
  return (
    <Card
      title="Needs attention"
      aside={formatCount(total + (storeTrouble === undefined ? 0 : 1), "item")}
      isFlush
    >
      <ul class="rows">
        {storeTrouble === undefined ? null : (
          <li class="row">
            <span class="state tone-warn">
              <Icon name="alert" size={14} />
              Degraded
            </span>
            <div class="row-text">
              <p>The data store does not work as it should</p>
              <p class="muted">
                <InertText text={storeTrouble} />
              </p>
            </div>
          </li>
        )}
        {attention.map(({ server, problem, fix }) => (
          <li key={server.name} class="row row-link" data-row>
            <StateBadge state={server.state} />
            <div class="row-text">
              <a href={serverPath(server.name)} class="mono cover" data-row-link>
                <InertText text={server.name} />
              </a>
              <p class="muted">
                <InertText text={server.reason} />
              </p>
              {fix !== undefined && "advice" in fix && (
                <p class="muted">
                  <InertText text={fix.advice} />
                </p>
              )}
              {problem === undefined ? null : <Remedy problem={problem} />}
            </div>
            <span class="row-aside">
              <Ago at={server.since} />
            </span>
            {fix === undefined
              ? null
              : "action" in fix
              ? <FixButtons fixes={[fix]} subject={server.name} back="/" />
              : (
                <div class="fixes above">
                  <a class="button" href={fix.href}>
                    {fix.verb} <span class="visually-hidden">{inertString(server.name)}</span>
                  </a>
                </div>
              )}
          </li>
        ))}
        {moreAttention > 0 && (
          <li class="row">
            <a href="/servers?sort=state">{formatCount(moreAttention, "more server")}</a>
          </li>
        )}
        {items.map((item) => <ItemRow key={item.kind + item.subject} item={item} />)}
        {moreItems > 0 && (
          <li class="row">
            <a href="/optimization">{formatCount(moreItems, "more item")} in optimization</a>
          </li>
        )}
        <ProblemRows problems={problems} />
        {moreProblems > 0 && (
          <li class="row muted">
            {formatCount(moreProblems, "more problem")} in the configuration, all of them in the log
          </li>
        )}
      </ul>
    </Card>
  );
}

const KINDS: Record<AttentionItem["kind"], { word: string; icon: IconName; tone: string }> = {
  "empty-toolset": { word: "Empty", icon: "alert", tone: "warn" },
  "stale-promotion": { word: "Stale", icon: "alert", tone: "warn" },
  "changed-tools": { word: "Held", icon: "paused", tone: "warn" },
  quarantined: { word: "Quarantined", icon: "lock", tone: "bad" },
  "approval-waiting": { word: "Waiting", icon: "paused", tone: "warn" },
  "consent-waiting": { word: "Waiting", icon: "paused", tone: "warn" },
  "restore-waiting": { word: "Staged", icon: "store", tone: "warn" },
  "job-waiting": { word: "Job waits", icon: "paused", tone: "warn" },
  "job-failed": { word: "Job failed", icon: "error", tone: "bad" },
};

function ItemRow({ item }: { item: AttentionItem }) {
  const { word, icon, tone } = KINDS[item.kind];
  return (
    <li class="row row-link" data-row>
      <span class={`state tone-${tone}`}>
        <Icon name={icon} size={14} />
        {word}
      </span>
      <div class="row-text">
        <a href={item.href} class={item.isName ? "mono cover" : "cover"} data-row-link>
          <InertText text={item.subject} />
        </a>
        <p class="muted">
          <InertText text={item.detail} />
        </p>
      </div>
      {item.at === undefined ? null : (
        <span class="row-aside">
          <Ago at={item.at} />
        </span>
      )}
      <FixButtons fixes={item.fixes} subject={item.subject} back="/" />
    </li>
  );
}

/** Places in a file to correct, each with its fix. */
export function ProblemRows({ problems }: { problems: readonly Problem[] }) {
  return (
    <>
      {problems.map((problem, index) => (
        <li key={index} class="row">
          <span class={problem.severity === "error" ? "state tone-bad" : "state tone-warn"}>
            <Icon name={problem.severity === "error" ? "error" : "alert"} size={14} />
            {problem.severity === "error" ? "Error" : "Warning"}
          </span>
          <div class="row-text">
            <p>
              <InertText text={capital(problem.message)} />
            </p>
            <Remedy problem={problem} />
          </div>
        </li>
      ))}
    </>
  );
}

/** What to do about a problem, and where. */
function Remedy({ problem }: { problem: Problem }) {
  return (
    <>
      <p class="muted">
        <InertText text={capital(problem.fix)} />
      </p>
      <p class="mono small muted place">
        <InertText text={`${problem.file}:${problem.line}:${problem.column}`} />
      </p>
    </>
  );
}

/** Problems are worded to follow a file's name. */
function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
