import assert from "node:assert/strict";
import { join } from "@std/path";
import type { TaskComparison, TaskRun } from "../lib/core/task_comparison.ts";
import {
  ComparisonsRepository,
  TaskRunsRepository,
} from "../lib/storage/comparisons_repository.ts";
import { Store } from "../lib/storage/store.ts";
import { launchBrowser } from "./browser.ts";
import { assertReadable, browserTest, openPage, untilLive } from "./console_pages.ts";
import { startGateway } from "./gateway.ts";

const AT = "2026-11-18T09:00:00.000Z";
const PROMPT = "Which loans does member Ada have?";
const PAGE = "/optimization/~comparisons";

/** What an earlier gateway left: it ended in the middle. */
const LEFT: TaskComparison = {
  id: "comparison_1",
  status: "running",
  options: {
    setups: ["direct", "gateway"],
    repeats: 2,
    view: "deferred",
    allowDestructive: false,
    maxTurns: 20,
    timeoutMs: 60_000,
  },
  tasks: ["loans", "hours"].map((name) => ({
    name,
    prompt: PROMPT,
    checks: [{ contains: "due" }],
  })),
  servers: ["library"],
  model: "sonnet",
  warnings: ["Refused: 1 tool marked as destructive"],
  done: 4,
  total: 8,
  createdAt: AT,
  updatedAt: AT,
  owner: "gone",
};

function runsOf({ id, tasks, options }: TaskComparison): TaskRun[] {
  return tasks.flatMap(({ name }, index) =>
    options.setups.map((setup): TaskRun => ({
      comparison: id,
      task: name,
      setup,
      repeat: 0,
      at: AT,
      ...(setup === "direct" && index === 1
        ? { status: "failure", reason: 'the answer does not contain "due"' }
        : { status: "success" }),
      answer: "Two are due",
      calls: [{ tool: "library.list_loans", failed: false }],
      turns: setup === "direct" ? 3 : 4,
      durationMs: 4_000 + 500 * index,
      cost: { inputTokens: 12_000 - 9_000 * index, outputTokens: 240, costUsd: 0.04 },
    }))
  );
}

browserTest("tasks are added, and results are shown, wide and narrow, light and dark", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    {
      await using store = await Store.open({ location: join(dataDir, "quartermaster.kv") });
      await new ComparisonsRepository(store).save(LEFT);
      const runs = new TaskRunsRepository(store);
      for (const run of runsOf(LEFT)) await runs.save(run);
    }
    await using gateway = await startGateway(["--enable-optimization"], { dataDir });
    const browser = await launchBrowser();
    try {
      await using opened = await openPage(browser);
      const { page, complaints } = opened;
      await page.goto(gateway.url + PAGE);
      await untilLive(page);
      await page.getByText("No tasks yet").waitFor();
      await page.getByLabel("Name").fill("loans");
      await page.getByLabel("What the user asks for").fill(PROMPT);
      await page.getByRole("button", { name: "Save task" }).click();
      // It has no check yet.
      await page.getByRole("alert").waitFor();
      assert.equal(await page.getByLabel("What the user asks for").inputValue(), PROMPT);
      await page.getByLabel("The answer contains").fill("due");
      await page.getByRole("button", { name: "Save task" }).click();
      await page.getByText('answer contains "due"').waitFor();
      await assertReadable(page, "comparisons");

      await page.getByRole("link", { name: "direct, gateway" }).click();
      await page.getByRole("button", { name: "Resume" }).waitFor();
      await page.getByText("The gateway ended while it ran").waitFor();
      await page.getByText('the answer does not contain "due"').waitFor();
      await assertReadable(page, "comparison");
      await page.getByRole("button", { name: "Cancel the comparison" }).click();
      await page.getByRole("button", { name: "Cancel comparison" }).click();
      await page.getByText("Canceled").waitFor();
      assert.deepEqual(complaints, []);
    } finally {
      await browser.close();
    }
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
