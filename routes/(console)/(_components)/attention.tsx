import { StateLabel, type Tone } from "../../../components/badges.tsx";
import { Ago, InertText } from "../../../components/text.tsx";
import { Card } from "../../../components/layout.tsx";
import { Confirm, PostForm } from "../../../components/forms.tsx";
import type { IconName } from "../../../components/icon.tsx";
import { StateBadge } from "../../../components/server_state.tsx";
import type { ConfigProblem } from "../../../lib/config/files.ts";
import type { AttentionItem, Fix } from "../../../lib/console/attention.ts";
import { formatCount, inertString } from "../../../lib/console/ui/format.ts";
import { serverPath } from "../../../lib/console/ui/pages.ts";
import type { DashboardPage } from "../(_page)/dashboard.ts";

export function AttentionList({ page }: { page: DashboardPage }) {
  const { attention, moreAttention, items, moreItems, problems, moreProblems, storeTrouble } = page;
  const total = attention.length + moreAttention + items.length + moreItems + problems.length +
    moreProblems + Number(storeTrouble !== undefined);
  if (total === 0) return null;
  return (
    <Card title="Needs attention" aside={formatCount(total, "item")} isFlush>
      <ul class="rows">
        {storeTrouble !== undefined && (
          <li class="row">
            <StateLabel tone="warn" icon="alert">Degraded</StateLabel>
            <div class="row-text">
              <p>The data store does not work as it should</p>
              <InertText as="p" class="muted" text={storeTrouble} />
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
              <InertText as="p" class="muted" text={problem?.message ?? server.reason} />
              {fix !== undefined && "advice" in fix && (
                <InertText as="p" class="muted" text={fix.advice} />
              )}
              {problem && <Remedy problem={problem} />}
            </div>
            <span class="row-aside">
              <Ago at={server.since} />
            </span>
            {fix && "action" in fix && <FixButtons fixes={[fix]} subject={server.name} back="/" />}
            {fix && "href" in fix && (
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

const KINDS: Record<AttentionItem["kind"], { word: string; icon: IconName; tone: Tone }> = {
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
  const { word, ...look } = KINDS[item.kind];
  return (
    <li class="row row-link" data-row>
      <StateLabel {...look}>{word}</StateLabel>
      <div class="row-text">
        <a href={item.href} class={item.isName ? "mono cover" : "cover"} data-row-link>
          <InertText text={item.subject} />
        </a>
        <InertText as="p" class="muted" text={item.detail} />
      </div>
      {item.at !== undefined && (
        <span class="row-aside">
          <Ago at={item.at} />
        </span>
      )}
      <FixButtons fixes={item.fixes} subject={item.subject} back="/" />
    </li>
  );
}

export function ProblemRows({ problems }: { problems: readonly ConfigProblem[] }) {
  return (
    <>
      {problems.map((problem, index) => (
        <li key={index} class="row">
          {problem.severity === "error"
            ? <StateLabel tone="bad" icon="error">Error</StateLabel>
            : <StateLabel tone="warn" icon="alert">Warning</StateLabel>}
          <div class="row-text">
            <InertText as="p" text={capital(problem.message)} />
            <Remedy problem={problem} />
          </div>
        </li>
      ))}
    </>
  );
}

function Remedy({ problem }: { problem: ConfigProblem }) {
  return (
    <>
      <InertText as="p" class="muted" text={capital(problem.fix)} />
      <InertText
        as="p"
        class="mono small muted place"
        text={`${problem.file}:${problem.line}:${problem.column}`}
      />
    </>
  );
}

/** Problems are worded to follow a file's name. */
function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

interface FixButtonsProps {
  fixes: readonly Fix[];
  /** What it is about, read aloud after the verb. */
  subject: string;
  back: string;
}

const BUSY = "Working…";

/** The clicks that set something right; those with a price ask first. */
export function FixButtons({ fixes, subject: name, back }: FixButtonsProps) {
  if (fixes.length === 0) return null;
  const subject = inertString(name);
  return (
    <div class="fixes above">
      {fixes.map((fix) => {
        const fields = { ...fix.action, back };
        if (fix.warning !== undefined) {
          return (
            <Confirm
              key={fix.verb}
              id={`${fix.action.action}-${encodeURIComponent(subject)}`}
              label={fix.verb}
              subject={subject}
              title={`${fix.verb}: ${subject}?`}
              action="/actions"
              fields={fields}
              verb={fix.verb}
              busy={BUSY}
            >
              {fix.warning}
            </Confirm>
          );
        }
        return (
          <PostForm key={fix.verb} action="/actions" busy={BUSY} fields={fields}>
            <button type="submit" class="button">
              {fix.verb} <span class="visually-hidden">{subject}</span>
            </button>
          </PostForm>
        );
      })}
    </div>
  );
}
