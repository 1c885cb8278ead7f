import { page } from "fresh";
import { DataTable } from "../../../../components/tables.tsx";
import { Card, PageHeader } from "../../../../components/layout.tsx";
import {
  Field,
  FormCard,
  FormFailure,
  PostForm,
  SelectField,
  TextField,
} from "../../../../components/forms.tsx";
import { EmptyState, Notice } from "../../../../components/states.tsx";
import { Ago, InertText } from "../../../../components/text.tsx";
import { BusyForms } from "../../../../islands/forms.tsx";
import { runFor } from "../../../../lib/console/api.ts";
import { define, formOf } from "../../../../lib/console/define.ts";
import { formError, submitForm } from "../../../../lib/console/errors.ts";
import { formatCount, inertString } from "../../../../lib/console/ui/format.ts";
import type { ComparedTask, TaskComparison } from "../../../../lib/core/task_comparison.ts";
import { COMPARISON_OPERATIONS, taskCheckText } from "../../../../lib/operations/comparison.ts";
import { TOOLSET_OPERATIONS } from "../../../../lib/operations/toolsets.ts";
import { ComparisonState } from "../(_components)/comparison.tsx";
import { SwitchedOff } from "../(_components)/job_form.tsx";
import {
  comparisonPath,
  COMPARISONS_PATH,
  readComparison,
  readTask,
} from "../(_page)/task_comparisons.ts";

const NEEDS = { GET: ["read", "manage"], POST: ["manage", "optimize", "call"] } as const;

export const handler = define.handlers(NEEDS, {
  async GET(ctx) {
    ctx.state.title = "With and without";
    return page(await dataOf(ctx));
  },

  async POST(ctx) {
    const form = await formOf(ctx);
    ctx.state.title = "With and without";
    return await submitForm<Data>(ctx, async () => {
      const removed = form.get("remove");
      if (removed !== null) {
        await runFor(ctx, COMPARISON_OPERATIONS.remove, { name: removed });
      } else if (form.get("do") === "start") {
        const { comparison } = await runFor(ctx, COMPARISON_OPERATIONS.start, readComparison(form));
        return comparison ? comparisonPath(comparison.id) : COMPARISONS_PATH;
      } else await runFor(ctx, COMPARISON_OPERATIONS.add, readTask(form));
      return COMPARISONS_PATH;
    }, async (error) => ({ ...await dataOf(ctx), form, problem: formError(error) }));
  },
});

interface Data {
  isOn: boolean;
  tasks: ComparedTask[];
  comparisons: TaskComparison[];
  toolsets: string[];
  form?: URLSearchParams;
  problem?: ReturnType<typeof formError>;
}

async function dataOf(ctx: Parameters<typeof runFor>[0]): Promise<Data> {
  const { gateway } = ctx.state;
  const [{ tasks }, { comparisons }] = await Promise.all([
    runFor(ctx, COMPARISON_OPERATIONS.tasks, {}),
    runFor(ctx, COMPARISON_OPERATIONS.list, {}),
  ]);
  const { toolsets } = await runFor(ctx, TOOLSET_OPERATIONS.list, {});
  const names = toolsets.map(({ name }) => name);
  return { isOn: gateway.isOptimizing(), tasks, comparisons, toolsets: names };
}

/** Tasks of the user, and comparisons of the set-ups that a client does them in. */
export default define.page<typeof handler>(function ComparisonsPage({ data }) {
  const { isOn, tasks, comparisons, problem } = data;
  return (
    <div class="stack" data-live="settings optimization">
      <BusyForms />
      <PageHeader
        title="With and without"
        lead="Your own tasks, done by the claude CLI with and without the gateway: success, tokens, turns and cost"
        action={<a class="button" href="/optimization">All tools</a>}
      />
      {!isOn && <SwitchedOff />}
      {problem !== undefined && <FormFailure error={problem} />}
      {comparisons.length > 0 && <Comparisons comparisons={comparisons} />}
      {tasks.length === 0
        ? (
          <EmptyState icon="optimization" title="No tasks yet">
            A task is a prompt with checks that tell whether it was done. Add one here, or import a
            file of them with <code>quartermaster compare import comparison.json</code>.
          </EmptyState>
        )
        : <Tasks tasks={tasks} />}
      {isOn && tasks.length > 0 && <StartForm data={data} />}
      <TaskForm form={data.form} />
    </div>
  );
});

function Comparisons({ comparisons }: { comparisons: readonly TaskComparison[] }) {
  return (
    <Card title="Comparisons" isFlush>
      <ul class="rows job-rows">
        {comparisons.map((one) => (
          <li key={one.id} class="row row-link">
            <ComparisonState comparison={one} />
            <div class="row-text">
              <a class="cover" href={comparisonPath(one.id)}>{one.options.setups.join(", ")}</a>
              <p class="muted small">
                {formatCount(one.tasks.length, "task")}, {one.done} of{" "}
                {formatCount(one.total, "run")}
              </p>
            </div>
            <span class="row-aside">
              <Ago at={Date.parse(one.createdAt)} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Tasks({ tasks }: { tasks: readonly ComparedTask[] }) {
  return (
    <Card
      title="Tasks"
      aside={
        <a
          class="small"
          href="/api/comparison.export_tasks"
          f-client-nav={false}
          download="comparison.json"
        >
          Export
        </a>
      }
      isFlush
    >
      <DataTable
        caption="Tasks"
        rows={tasks}
        keyOf={({ name }) => name}
        columns={[
          { head: "Task", cell: ({ name }) => <span class="mono">{name}</span> },
          { head: "Prompt", cell: ({ prompt }) => <InertText text={prompt.slice(0, 300)} /> },
          {
            head: "Done if",
            cell: ({ checks }) => (
              <>
                {checks.map((check, nth) => (
                  <InertText key={nth} as="p" class="small" text={taskCheckText(check)} />
                ))}
              </>
            ),
          },
          {
            head: "Remove",
            isQuiet: true,
            cell: ({ name }) => (
              <PostForm action={COMPARISONS_PATH} fields={{ remove: name }}>
                <button type="submit" class="link-button small">
                  Remove <span class="visually-hidden">{inertString(name)}</span>
                </button>
              </PostForm>
            ),
          },
        ]}
      />
    </Card>
  );
}

function StartForm({ data: { toolsets, form } }: { data: Data }) {
  const choices = [
    ["direct", "direct: the servers themselves"],
    ["gateway", "gateway: /mcp"],
    ["gateway@canonical", "gateway@canonical: /mcp without promoted descriptions"],
    ...toolsets.map((name) => [`toolset:${name}`, `toolset: ${inertString(name)}`]),
  ] as const;
  const chosen = form?.getAll("setup") ?? ["direct", "gateway"];
  return (
    <FormCard id="start" title="Compare" action={COMPARISONS_PATH} fields={{ do: "start" }}>
      <Notice tone="warn" role={null}>
        The tools are really called, on your servers, and it spends model time. Tools that are
        marked as destructive are refused unless you allow them.
      </Notice>
      <fieldset class="field setups">
        <legend>Set-ups; the others are compared with the first</legend>
        {choices.map(([value, label]) => (
          <label key={value} class="check-field">
            <input
              type="checkbox"
              name="setup"
              value={value}
              checked={chosen.includes(value!)}
            />
            {label}
          </label>
        ))}
      </fieldset>
      <TextField
        id="repeats"
        label="Runs of each task in each set-up"
        type="number"
        min="1"
        max="20"
        value={form?.get("repeats") ?? "3"}
      />
      <SelectField
        id="view"
        name="view"
        label="The client shows tools"
        value={form?.get("view") ?? "deferred"}
        choices={[
          ["deferred", "Tool search (default)"],
          ["inline", "All tools at once"],
        ]}
      />
      <TextField
        id="maxCostUsd"
        label="Maximum cost, in USD"
        inputmode="decimal"
        value={form?.get("maxCostUsd") ?? ""}
        hint="Empty: no limit"
      />
      <label class="check-field">
        <input
          type="checkbox"
          name="allowDestructive"
          value="true"
          checked={form?.get("allowDestructive") === "true"}
        />
        Also allow tools that are marked as destructive
      </label>
      <label class="check-field">
        <input type="checkbox" required />I understand that tools are really called
      </label>
      <div class="form-actions">
        <button type="submit" class="button button-primary">Start comparison</button>
      </div>
    </FormCard>
  );
}

function TaskForm({ form }: { form: URLSearchParams | undefined }) {
  const value = (name: string) => form?.get("do") === "start" ? "" : form?.get(name) ?? "";
  return (
    <FormCard id="task" title="Add a task" action={COMPARISONS_PATH}>
      <TextField id="name" label="Name" required maxLength={64} value={value("name")} />
      <Field id="prompt" label="What the user asks for">
        <textarea class="input" id="prompt" name="prompt" rows={3} required>
          {value("prompt")}
        </textarea>
      </Field>
      <TextField id="contains" label="The answer contains" value={value("contains")} />
      <TextField
        id="pattern"
        label="The answer matches"
        hint="A regular expression"
        value={value("pattern")}
      />
      <TextField
        id="calls"
        label="Calls the tool"
        placeholder="server.tool"
        value={value("calls")}
        hint={
          <>
            At least one check. A check that runs a program of yours is added with{" "}
            <code>quartermaster compare import</code>.
          </>
        }
      />
      <div class="form-actions">
        <button type="submit" class="button">Save task</button>
      </div>
    </FormCard>
  );
}
