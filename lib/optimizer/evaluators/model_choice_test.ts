import assert from "node:assert/strict";
import { buildModels, type ModelsInput } from "./model_choice.ts";
import { ProcessOwner } from "../../servers/processes/process_owner.ts";
import { MemoryRecords } from "../../servers/processes/testing/memory_records.ts";
import { runFolders } from "../evaluators/claude_environment.ts";
import { fakeClaude } from "../evaluators/testing/fake_claude.ts";
import { Redactor } from "../../telemetry/redact.ts";
import { startModelStandIn } from "../../../tests/fixtures/model_stand_in.ts";

interface Wanted {
  isOn?: boolean;
  env?: Record<string, string>;
  options?: Partial<ModelsInput["options"]>;
}

function models({ isOn = true, env = {}, options = {} }: Wanted) {
  return buildModels({
    options: {
      evaluator: "claude-cli",
      claudePath: "claude",
      evalModel: "stand-in",
      evalTimeout: 20_000,
      evalConcurrency: 1,
      modelPrices: {},
      ...options,
    },
    env: { get: (name) => env[name], toObject: () => env },
    platform: { canSpawn: true },
    redactor: new Redactor(),
    processOwner: new ProcessOwner({
      leaseId: "test",
      host: "here",
      records: new MemoryRecords(),
      onWarning: () => {},
    }),
    folders: runFolders({ store: "memory", leaseId: "test" }),
    openEndpoint: () => Promise.reject(new Error("no run is made")),
    isEnabled: () => isOn,
  });
}

/** How often the fake was started. */
async function starts(folder: string): Promise<number> {
  const text = await Deno.readTextFile(`${folder}/starts`).catch(() => "");
  return text.split("\n").filter(Boolean).length;
}

const PATH = Deno.env.get("PATH") ?? "";

Deno.test("composeModels() starts no program while optimization is off", async () => {
  await using fake = await fakeClaude(`echo once >> "$FOLDER/starts"`);
  const options = { claudePath: fake.path };
  const { evaluator, evaluatorInfo } = models({ isOn: false, env: { PATH }, options });
  assert.deepEqual(await evaluatorInfo(), {
    kind: null,
    model: null,
    problem: "Cannot evaluate: optimization is off",
  });
  const { kind } = await evaluator();
  assert.equal(kind, "claude-cli", "an estimate is still for what would be used");
  assert.equal(await starts(fake.folder), 0);
});

Deno.test("composeModels() looks for the program once, whoever asks", async () => {
  await using fake = await fakeClaude(`echo once >> "$FOLDER/starts"`);
  const { evaluator, evaluatorInfo, textModel } = models({
    env: { PATH },
    options: { claudePath: fake.path },
  });
  const found = await evaluator();
  await found.check();
  await (await evaluator()).check();
  await textModel();
  assert.deepEqual(await evaluatorInfo(), {
    kind: "claude-cli",
    model: "stand-in",
    problem: null,
  });
  assert.equal(await starts(fake.folder), 1);
});

Deno.test("composeModels() gives the program the environment that it was handed", async () => {
  await using fake = await fakeClaude(`echo "$ANTHROPIC_API_KEY" > "$FOLDER/key"`);
  const env = { PATH, ANTHROPIC_API_KEY: "handed-in" };
  const { evaluator } = models({ env, options: { claudePath: fake.path } });
  await evaluator();
  assert.equal(await Deno.readTextFile(`${fake.folder}/key`), "handed-in\n");
});

Deno.test("composeModels() lets texts be written within the same bounds as runs", async () => {
  let [running, most] = [0, 0];
  await using model = startModelStandIn(async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running--;
    return { text: "Written" };
  });
  const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "any" };
  const { evaluator, textModel } = models({ env, options: { evaluator: "messages-api" } });
  const { signal } = new AbortController();
  const write = async () =>
    await (await textModel()).complete({ system: "", prompt: "Write", maxTokens: 9, signal });
  const text = JSON.stringify({ name: "t", inputSchema: { type: "object" } });
  const tools = [{ name: "t", server: "s", tool: "t", text }];
  const run = async () =>
    await (await evaluator()).run({ prompt: "p", tools, target: "t", signal });
  await Promise.all([write(), run(), write(), run()]);
  assert.deepEqual([model.requests.length, most], [4, 1]);
  assert.equal((await evaluator()).isPriced, false, "a budget in dollars would bound nothing");
});

Deno.test("buildModels() gives each model that is named an evaluator, with its own check and price", async () => {
  const env = { ANTHROPIC_API_KEY: "any", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
  const { evaluator } = models({ env, options: { evaluator: "messages-api" } });
  const refs = ["messages-api:claude-sonnet-4-5", "openai-api:gpt-5-mini", "openai-api:llama3:8b"];
  const found = await Promise.all(refs.map((ref) => evaluator(ref)));
  assert.deepEqual(found.map(({ kind, model, isPriced }) => [kind, model, isPriced]), [
    ["messages-api", "claude-sonnet-4-5", true],
    ["openai-api", "gpt-5-mini", true],
    ["openai-api", "llama3:8b", false],
  ]);
  assert.deepEqual(found[1]!.price, { input: 0.25, output: 2 });
  await Promise.all(found.map((one) => one.check()));
  const bare = models({ env: {}, options: { evaluator: "messages-api" } });
  await assert.rejects((await bare.evaluator("openai-api:gpt-5-mini")).check(), /requires a key/);
  const { kind, model } = await evaluator();
  assert.deepEqual([kind, model], ["messages-api", "stand-in"], "the one that is set");
});
