import type { DashboardPage } from "../lib/console/dashboard_page.ts";
import type { Problem } from "../lib/config/problem.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { serverPath } from "../lib/console/ui/paths.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { StateBadge } from "./state_badge.tsx";

/** What needs a person: servers that do not work, and places in the configuration to correct. */
export function AttentionList({ page }: { page: DashboardPage }) {
  const { attention, moreAttention, problems, moreProblems, storeTrouble } = page;
  const total = attention.length + moreAttention + problems.length + moreProblems;
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
        {attention.map(({ server, problem }) => (
          <li key={server.name} class="row row-link" data-row>
            <StateBadge state={server.state} />
            <div class="row-text">
              <a href={serverPath(server.name)} class="mono cover" data-row-link>
                <InertText text={server.name} />
              </a>
              <p class="muted">
                <InertText text={server.reason} />
              </p>
              {problem === undefined ? null : <Remedy problem={problem} />}
            </div>
            <span class="row-aside">
              <Ago at={server.since} />
            </span>
          </li>
        ))}
        {moreAttention > 0 && (
          <li class="row">
            <a href="/servers?sort=state">{formatCount(moreAttention, "more server")}</a>
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
