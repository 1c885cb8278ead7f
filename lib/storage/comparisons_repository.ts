import { ComparedTask, TaskComparison, TaskRun } from "../core/task_comparison.ts";
import { collection } from "./collection.ts";
import { keys } from "./keys.ts";

export class ComparedTasksRepository extends collection({
  noun: "task",
  key: keys.comparedTasks,
  schema: ComparedTask,
  idOf: ({ name }) => name,
  announce: false,
  news: "optimization",
}) {}

export class TaskRunsRepository extends collection({
  noun: "run of a task",
  key: keys.taskRuns,
  schema: TaskRun,
  idOf: ({ comparison, setup, task, repeat }): [string, string, string, number] => [
    comparison,
    setup,
    task,
    repeat,
  ],
  announce: false,
}) {}

export class ComparisonsRepository extends collection({
  noun: "comparison",
  key: keys.taskComparisons,
  schema: TaskComparison,
  idOf: ({ id }) => id,
  announce: false,
  news: "optimization",
}) {
  /** Deletes all that have ended except the newest, with their runs. */
  async prune({ most, runs }: { most: number; runs: TaskRunsRepository }): Promise<void> {
    const ended = (await this.values({ reverse: true })).filter(({ status }) =>
      status !== "running"
    );
    for (const { id } of ended.slice(most)) {
      for (const { setup, task, repeat } of await runs.values({ under: [id] })) {
        await runs.delete([id, setup, task, repeat]);
      }
      await this.delete(id);
    }
  }
}
