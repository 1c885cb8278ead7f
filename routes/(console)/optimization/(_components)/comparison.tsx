import { type IconName } from "../../../../components/icon.tsx";
import { StateLabel, type Tone } from "../../../../components/badges.tsx";
import { Card } from "../../../../components/layout.tsx";
import { DataTable } from "../../../../components/tables.tsx";
import { InertText } from "../../../../components/text.tsx";
import type { TaskComparison } from "../../../../lib/core/task_comparison.ts";
import type { ComparisonTables } from "../(_page)/task_comparisons.ts";

const STATES: Record<TaskComparison["status"], { word: string; icon: IconName; tone: Tone }> = {
  running: { word: "Running", icon: "pending", tone: "info" },
  completed: { word: "Completed", icon: "ready", tone: "ok" },
  cancelled: { word: "Canceled", icon: "close", tone: "quiet" },
  failed: { word: "Failed", icon: "error", tone: "bad" },
  interrupted: { word: "Interrupted", icon: "paused", tone: "warn" },
};

export function ComparisonState({ comparison }: { comparison: TaskComparison }) {
  const { word, icon, tone } = STATES[comparison.status];
  return <StateLabel class="job-state" tone={tone} icon={icon}>{word}</StateLabel>;
}

export function ResultTables({ tables }: { tables: ComparisonTables }) {
  const { names, setups, differences, tasks } = tables;
  return (
    <>
      <Card title="By set-up, means of one run" isFlush>
        <DataTable
          caption="Success, tokens, turns, time and cost by set-up"
          rows={setups}
          keyOf={({ setup }) => setup}
          columns={[
            { head: "Set-up", cell: ({ setup }) => <span class="mono">{setup}</span> },
            { head: "Success", cell: ({ success }) => success },
            ...names.map((head, nth) => ({
              head,
              cell: ({ values }: typeof setups[number]) => values[nth],
            })),
          ]}
        />
      </Card>
      {differences.map(({ setup, baseline, rows }) => (
        <Card
          key={setup}
          title={
            <>
              <span class="mono">{setup}</span> compared with <span class="mono">{baseline}</span>
            </>
          }
          aside="paired by task"
          isFlush
        >
          <DataTable
            caption={`${setup} compared with ${baseline}`}
            rows={rows}
            keyOf={({ name }) => name}
            columns={[
              { head: "For a run", cell: ({ name }) => name },
              { head: "Difference", cell: ({ text }) => text },
            ]}
          />
        </Card>
      ))}
      <Card title="By task" isFlush>
        <DataTable
          caption="Successful runs by task and set-up"
          rows={tasks}
          keyOf={({ task }) => task}
          columns={[
            { head: "Task", cell: ({ task }) => <span class="mono">{task}</span> },
            ...setups.map(({ setup }, nth) => ({
              head: setup,
              cell: ({ counts }: typeof tasks[number]) => counts[nth],
            })),
          ]}
        />
      </Card>
    </>
  );
}

/** What went wrong, and what was called then. */
export function FailedRuns({ failed }: Pick<ComparisonTables, "failed">) {
  if (failed.length === 0) return null;
  return (
    <Card title="Runs without success" isFlush>
      <DataTable
        caption="Runs without success, oldest first"
        rows={failed}
        keyOf={({ task, setup, repeat }) => `${task} ${setup} ${repeat}`}
        columns={[
          {
            head: "Run",
            cell: ({ task, setup, repeat }) => (
              <span class="mono small">{task}, {setup}, {repeat + 1}</span>
            ),
          },
          {
            head: "State",
            cell: ({ status }) =>
              status === "error"
                ? <StateLabel tone="warn" icon="alert">Error, not counted</StateLabel>
                : <StateLabel tone="bad" icon="error">Failed</StateLabel>,
          },
          { head: "Why", cell: ({ reason = "" }) => <InertText text={reason} /> },
          {
            head: "Called",
            cell: ({ calls }) => (
              <InertText
                class="mono small"
                as="span"
                text={calls.map(({ tool }) => tool).join(", ") || "nothing"}
              />
            ),
          },
        ]}
      />
    </Card>
  );
}
