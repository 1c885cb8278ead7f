import type { ComponentChildren } from "preact";
import { StateLabel, type Tone } from "../../../components/badges.tsx";
import { Ago, InertText } from "../../../components/text.tsx";
import { Card } from "../../../components/layout.tsx";
import { Confirm, PostForm } from "../../../components/forms.tsx";
import type { IconName } from "../../../components/icon.tsx";
import { StateBadge } from "../../../components/server_state.tsx";
import type { ConfigProblem } from "../../../lib/config/files.ts";
import type { AttentionItem, Fix, FixLink } from "../../../lib/console/attention.ts";
import { capitalized, formatCount, inertString } from "../../../lib/console/ui/format.ts";
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
              <p>The data store is not working properly</p>
              <InertText as="p" class="muted" text={storeTrouble} />
            </div>
          </li>
        )}
        {attention.map(({ server, problem, fix }) => (
          <AttentionRow
            key={server.name}
            state={<StateBadge state={server.state} />}
            href={serverPath(server.name)}
            subject={server.name}
            isName
            detail={capitalized(problem?.message ?? server.reason)}
            at={server.since}
            fixes={fix ? [fix] : []}
          >
            {fix && "advice" in fix && <InertText as="p" class="muted" text={fix.advice} />}
            {problem && <Remedy problem={problem} />}
          </AttentionRow>
        ))}
        {moreAttention > 0 && (
          <li class="row">
            <a href="/servers?sort=state">{formatCount(moreAttention, "more server")}</a>
          </li>
        )}
        <ItemRows items={items} />
        {moreItems > 0 && (
          <li class="row">
            <a href="/optimization">{formatCount(moreItems, "more item")} in optimization</a>
          </li>
        )}
        <ProblemRows problems={problems} />
        {moreProblems > 0 && (
          <li class="row muted">
            {formatCount(moreProblems, "more problem")}{" "}
            in the configuration; see the log for all of them
          </li>
        )}
      </ul>
    </Card>
  );
}

/** What works and still asks for a decision. */
export function DecisionsCard({ decisions }: Pick<DashboardPage, "decisions">) {
  if (decisions.length === 0) return null;
  return (
    <Card title="Decisions to consider" aside={formatCount(decisions.length, "item")} isFlush>
      <ul class="rows">
        <ItemRows items={decisions} />
      </ul>
    </Card>
  );
}

function ItemRows({ items }: { items: readonly AttentionItem[] }) {
  return items.map(({ kind, ...item }) => {
    const { word, ...look } = KINDS[kind];
    const state = <StateLabel {...look}>{word}</StateLabel>;
    return <AttentionRow key={kind + item.subject} state={state} {...item} />;
  });
}

const KINDS: Record<AttentionItem["kind"], { word: string; icon: IconName; tone: Tone }> = {
  "empty-toolset": { word: "Empty", icon: "alert", tone: "warn" },
  "stale-promotion": { word: "Stale", icon: "alert", tone: "warn" },
  "changed-tools": { word: "Held", icon: "paused", tone: "warn" },
  quarantined: { word: "Quarantined", icon: "lock", tone: "bad" },
  "approval-waiting": { word: "Waiting", icon: "paused", tone: "warn" },
  "consent-waiting": { word: "Waiting", icon: "paused", tone: "warn" },
  "restore-waiting": { word: "Staged", icon: "store", tone: "warn" },
  "job-waiting": { word: "Job paused", icon: "paused", tone: "warn" },
  "job-failed": { word: "Job failed", icon: "error", tone: "bad" },
  failing: { word: "Failing", icon: "error", tone: "bad" },
  slow: { word: "Slow", icon: "alert", tone: "warn" },
  missed: { word: "Not found", icon: "search", tone: "warn" },
  unused: { word: "Unused", icon: "paused", tone: "quiet" },
};

interface AttentionRowProps extends Omit<AttentionItem, "kind" | "fixes"> {
  state: ComponentChildren;
  fixes: readonly (Fix | FixLink)[];
  /** Below the detail. */
  children?: ComponentChildren;
}

function AttentionRow(props: AttentionRowProps) {
  const { state, href, subject, isName, detail, at, fixes, children } = props;
  return (
    <li class="row row-link" data-row>
      {state}
      <div class="row-text">
        <a href={href} class={isName ? "mono cover" : "cover"} data-row-link>
          <InertText text={subject} />
        </a>
        <InertText as="p" class="muted" text={detail} />
        {children}
      </div>
      {at !== undefined && (
        <span class="row-aside">
          <Ago at={at} />
        </span>
      )}
      <FixButtons fixes={fixes} subject={subject} back="/" />
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
            <InertText as="p" text={capitalized(problem.message)} />
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
      <InertText as="p" class="muted" text={capitalized(problem.fix)} />
      <InertText
        as="p"
        class="mono small muted place"
        text={`${problem.file}:${problem.line}:${problem.column}`}
      />
    </>
  );
}

interface FixButtonsProps {
  fixes: readonly (Fix | FixLink)[];
  /** Read aloud after the verb. */
  subject: string;
  back: string;
}

/** Buttons that fix a problem; those with a cost ask first. */
export function FixButtons({ fixes, subject: name, back }: FixButtonsProps) {
  if (fixes.length === 0) return null;
  const subject = inertString(name);
  return (
    <div class="fixes above">
      {fixes.map((fix) => {
        const { verb } = fix;
        const label = (
          <>
            {verb} <span class="visually-hidden">{subject}</span>
          </>
        );
        if ("href" in fix) return <a key={verb} class="button" href={fix.href}>{label}</a>;
        const form = { action: "/actions", busy: "Working…", fields: { ...fix.action, back } };
        if (fix.warning === undefined) {
          return (
            <PostForm key={verb} {...form}>
              <button type="submit" class="button">{label}</button>
            </PostForm>
          );
        }
        return (
          <Confirm
            key={verb}
            id={`${fix.action.action}-${encodeURIComponent(subject)}`}
            label={verb}
            subject={subject}
            title={`${verb}: ${subject}?`}
            verb={verb}
            {...form}
          >
            {fix.warning}
          </Confirm>
        );
      })}
    </div>
  );
}
