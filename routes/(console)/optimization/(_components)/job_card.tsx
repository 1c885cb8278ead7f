import { formatCount, inertString } from "../../../../lib/console/ui/format.ts";
import {
  isActive,
  type JobLine,
  jobPath,
  type ShownJob,
  STEPS,
} from "../../../../lib/console/ui/jobs.ts";
import { optimizationPath } from "../../../../lib/console/ui/pages.ts";
import { Ago, InertText } from "../../../../components/text.tsx";
import { Confirm, PostForm } from "../../../../components/forms.tsx";
import { Badge, StateLabel, type Tone } from "../../../../components/badges.tsx";
import { Notice } from "../../../../components/states.tsx";
import type { IconName } from "../../../../components/icon.tsx";

const STATUS: Record<ShownJob["status"], { word: string; icon: IconName; tone: Tone }> = {
  running: { word: "Running", icon: "pending", tone: "info" },
  paused: { word: "Paused", icon: "paused", tone: "warn" },
  completed: { word: "Completed", icon: "ready", tone: "ok" },
  cancelled: { word: "Canceled", icon: "close", tone: "quiet" },
  failed: { word: "Failed", icon: "error", tone: "bad" },
};

const LINES: Record<JobLine["state"], { icon: IconName; tone: Tone }> = {
  done: { icon: "ready", tone: "ok" },
  failed: { icon: "error", tone: "bad" },
  working: { icon: "pending", tone: "info" },
  queued: { icon: "more", tone: "quiet" },
};

const STEP_LABELS: Record<typeof STEPS[number], string> = {
  generating: "Generate",
  evaluating: "Evaluate",
  promoting: "Promote",
  complete: "Complete",
};

interface JobCardProps {
  job: ShownJob;
  isWhole: boolean;
  asked?: string | undefined;
  onAsk?: ((event: SubmitEvent, action: "pause" | "resume") => void) | undefined;
}

/** `isShort`: the rest is said beside it. */
export function JobState(
  { job: { status, outcome, note }, isShort = false }: { job: ShownJob; isShort?: boolean },
) {
  // News of a job have its note, but not what became of each tool.
  const isLess = outcome !== undefined || (status === "completed" && note !== undefined);
  const { word, icon, tone } = isLess
    ? {
      word: outcome && !isShort ? `Finished: ${outcome.words}` : "Finished",
      icon: "alert",
      tone: "warn",
    } as const
    : STATUS[status];
  return <StateLabel class="job-state" tone={tone} icon={icon}>{word}</StateLabel>;
}

export function JobCard({ job, isWhole, asked, onAsk }: JobCardProps) {
  const { title, percent, message, current, spent, note, outcome } = job;
  return (
    <section
      class="card job"
      data-job={job.id}
      aria-label={`Optimization of ${inertString(title)}`}
    >
      <header class="card-head">
        <h2>
          <a class="job-title" href={jobPath(job.id)}>
            {isActive(job) ? "Optimizing" : "Optimization of"} <InertText text={title} />
          </a>
        </h2>
        <div class="card-aside">
          <JobState job={job} isShort />
        </div>
      </header>
      <div class="card-body job-body">
        <div class="job-progress">
          <progress
            class="job-bar"
            max={100}
            value={outcome === undefined ? percent : 100 * outcome.tested / job.tools}
            aria-label="Progress"
          />
          <span class="job-share">
            {outcome === undefined
              ? `${job.done}/${formatCount(job.tools, "tool")}, ${percent} %`
              : `${outcome.tested}/${formatCount(job.tools, "tool")} tested`}
          </span>
        </div>
        {current && <Phases phase={current.phase} />}
        <p class="job-message" role="status">
          <InertText text={outcome === undefined ? message : `Finished: ${outcome.words}`} />
        </p>
        {outcome && (
          <Notice tone="warn" role={null}>
            <InertText text={outcome.reason} />
          </Notice>
        )}
        {current !== undefined && current.categories.length > 0 && (
          <ul class="job-categories" aria-label="Runs by category">
            <li class="muted">Runs done:</li>
            {current.categories.map(({ category, done, total }) => (
              <li key={category}>
                <span class="job-category">{category}</span> {done}/{total}
              </li>
            ))}
          </ul>
        )}
        {note !== undefined && (
          <Notice tone={job.status === "failed" ? "bad" : "info"} icon="info" role={null}>
            <InertText text={note} />
          </Notice>
        )}
        <p class="muted small">
          {job.depth === "thorough" ? "Thorough" : "Quick"}, {spent}, started{" "}
          <Ago at={Date.parse(job.startedAt)} />
          {job.endedAt !== undefined && (
            <>
              , ended <Ago at={Date.parse(job.endedAt)} />
            </>
          )}
        </p>
        {isActive(job) && <JobActions job={job} asked={asked} onAsk={onAsk} />}
      </div>
      {isWhole && <JobLines job={job} />}
    </section>
  );
}

function Phases({ phase }: { phase: string }) {
  const at = STEPS.findIndex((step) => step === phase);
  return (
    <ol class="job-phases" aria-label="Phases">
      {STEPS.map((step, index) => (
        <li
          key={step}
          class={index < at ? "is-past" : index === at ? "is-now" : ""}
          {...(index === at ? { "aria-current": "step" } : {})}
        >
          {STEP_LABELS[step]}
        </li>
      ))}
    </ol>
  );
}

function JobActions({ job, asked, onAsk }: Omit<JobCardProps, "isWhole">) {
  const action = job.status === "running" ? "pause" : "resume";
  return (
    <div class="form-actions">
      <PostForm
        action={`${jobPath(job.id)}/${action}`}
        onSubmit={(event) => onAsk?.(event, action)}
      >
        <button type="submit" class="button" disabled={asked !== undefined}>
          {asked ?? (action === "pause" ? "Pause" : "Resume")}
        </button>
      </PostForm>
      <Confirm
        id={`cancel-${job.id}`}
        label="Cancel"
        subject={`the optimization of ${inertString(job.title)}`}
        title="Cancel this optimization?"
        action={`${jobPath(job.id)}/cancel`}
        verb="Cancel optimization"
        isDangerous
      >
        Finished tools keep their results. Runs of the tool in progress stay on record but do not
        count.
      </Confirm>
    </div>
  );
}

function JobLines({ job }: { job: ShownJob }) {
  return (
    <ul class="rows job-lines">
      {job.earlier > 0 && <li class="row muted">{formatCount(job.earlier, "earlier tool")}</li>}
      {job.lines.map((line) => {
        const { icon, tone } = LINES[line.state];
        return (
          <li key={`${line.server}.${line.tool}`} class="row">
            <StateLabel tone={tone} icon={icon}>{line.word}</StateLabel>
            <div class="row-text">
              <a class="mono" href={optimizationPath(line.server, line.tool)}>
                <InertText text={line.tool} />
              </a>{" "}
              {line.isPromoted && <Badge tone="ok">Promoted</Badge>}
              {line.text === "" ? null : <InertText as="p" class="muted" text={line.text} />}
            </div>
          </li>
        );
      })}
      {job.later > 0 && <li class="row muted">{formatCount(job.later, "more tool")}</li>}
    </ul>
  );
}
