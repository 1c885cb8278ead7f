import assert from "node:assert/strict";
import { join } from "node:path";
import {
  forEachOption,
  type OptionName,
  OPTIONS,
  settingsKeyOf,
  variableOf,
} from "./option_table.ts";
import { type Host, readOptions } from "./options.ts";

const HOST: Host = { os: "linux", cwd: "/current dir" };

function env(values: Record<string, string> = { HOME: "/home/ada" }) {
  return { get: (name: string) => values[name] };
}

async function withSettings(
  text: string | undefined,
  run: (configHome: string, file: string) => Promise<void>,
) {
  const home = await Deno.makeTempDir();
  const folder = join(home, "quartermaster");
  const file = join(folder, "settings.json");
  try {
    await Deno.mkdir(folder);
    if (text !== undefined) await Deno.writeTextFile(file, text);
    await run(home, file);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("readOptions() has a default for everything", async () => {
  const { options, origins, command, positionals, problems } = await readOptions([], env(), HOST);
  assert.deepEqual(options, {
    port: 3333,
    host: "127.0.0.1",
    config: undefined,
    dataDir: "/home/ada/.local/share/quartermaster",
    kv: "/home/ada/.local/share/quartermaster/quartermaster.kv",
    logLevel: "info",
    logFormat: "auto",
    logRetention: 20,
    otlp: false,
    activityRetention: 30,
    activityCalls: 100_000,
    callExamples: false,
    learnPrompts: false,
    stdio: false,
    standalone: false,
    enableOptimization: false,
    evaluator: "auto",
    claudePath: "claude",
    evalModel: undefined,
    evalModels: undefined,
    modelPrices: {},
    clientFamilies: {},
    evalConcurrency: 2,
    evalTimeout: 60_000,
    evalRetention: 180,
    packageCooldown: 0,
    publicUrl: undefined,
    requireToken: false,
    adminToken: undefined,
    token: undefined,
    oauthIssuer: undefined,
    oauthAudience: undefined,
    harden: false,
    secretKey: undefined,
    allowPrivate: false,
    answers: "mark",
    maxBody: 4_194_304,
    maxMessage: 16_777_216,
    taskAfter: 30_000,
    maxNameLength: 60,
    embeddings: "local",
    embeddingsUrl: undefined,
    embeddingsModel: undefined,
    embeddingsKey: undefined,
    hybridSearchRatio: 0.7,
    synonyms: {},
    toolCategories: {},
    development: false,
  });
  assert.deepEqual(origins, forEachOption(() => "default"));
  assert.deepEqual([command, positionals, problems], [undefined, [], []]);
});

Deno.test("readOptions() lets a flag win over the environment, and that over the file", async () => {
  await withSettings('{ "port": 1, "host": "::1", "logLevel": "warn", }', async (home) => {
    const variables = { HOME: "/h", XDG_CONFIG_HOME: home, QUARTERMASTER_PORT: "2" };
    const both = await readOptions(["--port", "3"], env(variables), HOST);
    assert.deepEqual([both.options.port, both.origins.port], [3, "flag"]);
    const one = await readOptions([], env(variables), HOST);
    assert.deepEqual([one.options.port, one.origins.port], [2, "environment"]);
    const none = await readOptions([], env({ ...variables, QUARTERMASTER_PORT: "" }), HOST);
    assert.deepEqual([none.options.port, none.origins.port], [1, "settings file"]);
    assert.deepEqual([none.options.host, none.options.logLevel], ["::1", "warn"]);
  });
});

Deno.test("readOptions() resolves paths against where they were written", async () => {
  const settings = '{ "dataDir": "data", "kv": "../store.kv" }';
  await withSettings(settings, async (home) => {
    const variables = { HOME: "/home/ada", XDG_CONFIG_HOME: home, QUARTERMASTER_CONFIG: "a.json" };
    const { options } = await readOptions([], env(variables), HOST);
    assert.equal(options.dataDir, join(home, "quartermaster", "data"));
    assert.equal(options.kv, join(home, "store.kv"));
    assert.equal(options.config, "/current dir/a.json");
    const flags = await readOptions(["--data-dir=~/d", "--config", "../b"], env(variables), HOST);
    assert.equal(flags.options.dataDir, "/home/ada/d");
    assert.equal(flags.options.config, "/b");
  });
});

const VALUES: [args: string[], option: keyof typeof OPTIONS, value: unknown][] = [
  [["--port", "0"], "port", 0],
  [["--port", "65535"], "port", 65535],
  [["--host", "[::1]"], "host", "::1"],
  [["--host", "LocalHost"], "host", "localhost"],
  [["--host", "127.1"], "host", "127.0.0.1"],
  [["--kv", ":memory:"], "kv", ":memory:"],
  [["--kv", "https://kv.example.com/x"], "kv", "https://kv.example.com/x"],
  [["--kv", "store"], "kv", "/current dir/store"],
  [["--data-dir", "/d"], "kv", "/d/quartermaster.kv"],
  [["--log-level", "TRACE"], "logLevel", "trace"],
  [["--log-format", "json"], "logFormat", "json"],
  [["--stdio=off"], "stdio", false],
  [["--stdio=YES"], "stdio", true],
  [["--no-dev"], "development", false],
  [["--dev"], "development", true],
  [["--public-url", "https://A.example.com:443/"], "publicUrl", "https://a.example.com"],
  [["--public-url", "http://[::1]:80"], "publicUrl", "http://[::1]"],
  [["--max-body", "524288"], "maxBody", 524_288],
  [["--max-body", "512KiB"], "maxBody", 524_288],
  [["--max-body", "1.5 mib"], "maxBody", 1_572_864],
  [["--max-body", "4MB"], "maxBody", 4_000_000],
  [["--max-name-length", "24"], "maxNameLength", 24],
  [["--max-name-length", "128"], "maxNameLength", 128],
  [["--embeddings", "Ollama"], "embeddings", "ollama"],
  [["--embeddings-url", "https://x/v1"], "embeddingsUrl", "https://x/v1"],
  [["--hybrid-search-ratio", ".5"], "hybridSearchRatio", 0.5],
  [["--hybrid-search-ratio", "0"], "hybridSearchRatio", 0],
  [["--hybrid-search-ratio", "1"], "hybridSearchRatio", 1],
];

for (const [args, option, value] of VALUES) {
  Deno.test(`readOptions() understands: ${args.join(" ")}`, async () => {
    const { options } = await readOptions(args, env(), HOST);
    assert.equal(options[option], value);
  });
}

const REFUSED: [args: string[], message: RegExp][] = [
  [["--port", "abc"], /^Cannot use --port "abc": it must be a whole number from 0 to 65535$/],
  [["--port", "65536"], /whole number from 0 to 65535$/],
  [["--port", "1.5"], /whole number/],
  [["--port", "1e3"], /whole number/],
  [["--port="], /^Cannot use --port "": it must be/],
  [["--host", "http://x"], /^Cannot use --host "http:\/\/x": it must be a host name or IP address/],
  [["--host", "x:80"], /without scheme or port$/],
  [["--host", "*"], /a host name or IP address/],
  [["--log-level", "silent"], /one of trace, debug, info, warn, error, fatal$/],
  [["--log-format", "xml"], /one of auto, json, pretty$/],
  [["--log-retention", "0"], /from 1 to 10000$/],
  [["--activity-retention", "0"], /from 1 to 3650$/],
  [["--activity-calls", "99"], /from 100 to 10000000$/],
  [["--stdio=maybe"], /^Cannot use --stdio "maybe": it must be true or false$/],
  [["--public-url", "https://x/y"], /without a path/],
  [["--public-url", "https://u:p@x/"], /without a path/],
  [["--public-url", "ftp://x"], /an http or https URL/],
  [["--max-body", "4 apples"], /a size from 1KiB to 1GiB/],
  [["--max-body", "10"], /a size from 1KiB to 1GiB/],
  [["--max-body", "9e9"], /a size/],
  [["--max-name-length", "23"], /a whole number from 24 to 128$/],
  [["--max-name-length", "129"], /a whole number from 24 to 128$/],
  [["--kv", "http://"], /":memory:" or an http\(s\) URL$/],
  [["--embeddings", "cloud"], /one of none, local, transformers, ollama, openai$/],
  [["--embeddings-url", "x:11434"], /an http or https URL$/],
  [["--embeddings-model="], /a model name$/],
  [["--hybrid-search-ratio", "1.1"], /a number from 0 to 1$/],
  [["--hybrid-search-ratio", "-1"], /a number from 0 to 1$/],
  [["--hybrid-search-ratio="], /a number from 0 to 1$/],
  [["--synonyms", "ticket"], /an object of lists, such as /],
  [["--synonyms", '{"ticket":"issue"}'], /an object of lists, such as /],
  [["--tool-categories", '{"git.*":"Not Short"}'], /an object of short names, such as /],
  [["--tool-categories", "[]"], /an object of short names, such as /],
];

for (const [args, message] of REFUSED) {
  Deno.test(`readOptions() refuses: ${args.join(" ")}`, async () => {
    await assert.rejects(readOptions(args, env(), HOST), { code: "CONFIG_INVALID", message });
  });
}

Deno.test("readOptions() takes objects as they are in the settings file", async () => {
  const settings = {
    synonyms: { constructor: ["builder"], ticket: ["issue"] },
    toolCategories: { "git.push": "vcs" },
  };
  await withSettings(JSON.stringify(settings), async (home) => {
    const { options } = await readOptions([], env({ HOME: "/h", XDG_CONFIG_HOME: home }), HOST);
    assert.deepEqual(options.synonyms, settings.synonyms);
    assert.deepEqual(options.toolCategories, settings.toolCategories);
  });
});

Deno.test("readOptions() repeats no secret that it cannot use", async () => {
  const key = "very-secret-".repeat(100);
  for (
    const [args, variables] of [
      [["--embeddings-key", key], {}],
      [[], { QUARTERMASTER_EMBEDDINGS_KEY: key }],
    ] as const
  ) {
    await assert.rejects(
      readOptions([...args], env({ HOME: "/h", ...variables }), HOST),
      (error: Error) => /embeddings.key/i.test(error.message) && !/very-secret/.test(error.message),
    );
  }
});

Deno.test("readOptions() names the variable that is wrong", async () => {
  const variables = env({ HOME: "/h", QUARTERMASTER_MAX_BODY: "lots" });
  await assert.rejects(readOptions([], variables, HOST), {
    message: /^Cannot use QUARTERMASTER_MAX_BODY "lots": it must be a size/,
  });
});

Deno.test("readOptions() names the place in the settings file that is wrong", async () => {
  await withSettings('{\r\n\t"port": [1]\r\n}', async (home, file) => {
    await assert.rejects(readOptions([], env({ HOME: "/h", XDG_CONFIG_HOME: home }), HOST), {
      message: `${file}:2:10: Cannot use setting port "[1]": it must be ` +
        "a whole number from 0 to 65535",
    });
  });
});

Deno.test("readOptions() warns of settings that mean nothing or stand twice", async () => {
  const text = '{ "$schema": "x", "prot": 1, "port": 2,\n "port": 3 }';
  await withSettings(text, async (home, file) => {
    const variables = env({ HOME: "/h", XDG_CONFIG_HOME: home });
    const { options, problems } = await readOptions([], variables, HOST);
    assert.equal(options.port, 3);
    assert.deepEqual(
      problems.map(({ line, column, message, fix }) => [line, column, message, fix]),
      [
        [1, 19, 'unknown setting "prot"', 'Did you mean "port"?'],
        [
          2,
          2,
          '"port" is set twice; this value is used, not the one on line 1',
          "Remove one of them",
        ],
      ],
    );
    assert.ok(problems.every((problem) => problem.file === file));
  });
});

Deno.test("readOptions() refuses a settings file that is a folder", async () => {
  await withSettings(undefined, async (home, file) => {
    await Deno.mkdir(file);
    await assert.rejects(readOptions([], env({ HOME: "/h", XDG_CONFIG_HOME: home }), HOST), {
      message: `Cannot read ${file}: it is a folder; choose a file inside it`,
    });
  });
});

Deno.test("readOptions() needs HOME only where no data folder is named", async () => {
  await assert.rejects(readOptions([], env({}), HOST), {
    message: "Cannot choose a data folder: HOME is not set; set HOME, or pass --data-dir",
  });
  const { options } = await readOptions(["--data-dir", "/d"], env({}), HOST);
  assert.equal(options.dataDir, "/d");
});

Deno.test("readOptions() needs no folder and no store of its own on Deno Deploy", async () => {
  const deploy = env({ DENO_DEPLOYMENT_ID: "x" });
  const { options, platform } = await readOptions([], deploy, HOST);
  assert.equal(platform.name, "deploy");
  assert.deepEqual([options.dataDir, options.kv], [undefined, undefined]);
  const named = await readOptions(["--kv", "https://kv.example.com"], deploy, HOST);
  assert.equal(named.options.kv, "https://kv.example.com");
});

Deno.test("readOptions() hands a command its own flags", async () => {
  const commandFlags = [{ flag: "json", meaning: "Print JSON" }];
  const args = ["servers", "list", "--json", "--port", "1"];
  const { command, positionals, flags } = await readOptions(args, env(), { ...HOST, commandFlags });
  assert.deepEqual([command, positionals, [...flags]], ["servers", ["list"], [["json", true]]]);
});

Deno.test("readOptions() reads every option from a flag, a variable and the settings file", async () => {
  const written: Record<OptionName, string> = {
    port: "1",
    host: "10.0.0.1",
    config: "/c",
    dataDir: "/d",
    kv: "/k",
    logLevel: "fatal",
    logFormat: "json",
    logRetention: "1",
    otlp: "1",
    activityRetention: "1",
    activityCalls: "100",
    callExamples: "true",
    learnPrompts: "1",
    stdio: "1",
    standalone: "1",
    enableOptimization: "1",
    evaluator: "messages-api",
    claudePath: "/opt/claude",
    evalModel: "some-model",
    evalModels: "claude-cli:sonnet,openai-api:llama3:8b",
    modelPrices: '{"llama":{"input":0,"output":0}}',
    clientFamilies: '{"cursor":"claude"}',
    evalConcurrency: "4",
    evalTimeout: "90s",
    evalRetention: "30",
    packageCooldown: "7",
    publicUrl: "https://x.example.com",
    requireToken: "1",
    harden: "1",
    adminToken: "a-long-enough-admin-token",
    token: "a-long-enough-user-token",
    oauthIssuer: "https://login.example.com",
    oauthAudience: "https://x.example.com",
    secretKey: "a".repeat(64),
    allowPrivate: "1",
    answers: "block",
    maxBody: "2MiB",
    maxMessage: "32MiB",
    taskAfter: "10s",
    maxNameLength: "40",
    embeddings: "openai",
    embeddingsUrl: "http://127.0.0.1:8080/v1",
    embeddingsModel: "some-model",
    embeddingsKey: "some-key",
    hybridSearchRatio: "0.25",
    synonyms: '{"ticket":["issue","bug"]}',
    toolCategories: '{"linear.*":"issues"}',
    development: "1",
  };
  const switches = {
    stdio: true,
    standalone: true,
    enableOptimization: true,
    learnPrompts: true,
    requireToken: true,
    harden: true,
    allowPrivate: true,
    development: true,
  };
  const numbers = {
    port: 1,
    logRetention: 1,
    otlp: true,
    activityRetention: 1,
    activityCalls: 100,
    callExamples: true,
    maxBody: 2_097_152,
    maxMessage: 33_554_432,
    taskAfter: 10_000,
    maxNameLength: 40,
    hybridSearchRatio: 0.25,
    evalConcurrency: 4,
    evalTimeout: 90_000,
    evalRetention: 30,
    packageCooldown: 7,
  };
  const objects = {
    synonyms: { ticket: ["issue", "bug"] },
    modelPrices: { llama: { input: 0, output: 0 } },
    clientFamilies: { cursor: "claude" },
    toolCategories: { "linear.*": "issues" },
  };
  const expected = { ...written, ...switches, ...numbers, ...objects };
  const pairs = Object.values(forEachOption((name) => [OPTIONS[name], written[name]] as const));
  const settings = Object.fromEntries(pairs.map(([row, value]) => [settingsKeyOf(row), value]));
  await withSettings(JSON.stringify(settings), async (home) => {
    const base = { HOME: "/h", XDG_CONFIG_HOME: home };
    const fromFile = await readOptions([], env(base), HOST);
    assert.deepEqual(fromFile.options, expected);
    assert.deepEqual(fromFile.origins, forEachOption(() => "settings file"));
  });
  const variables = Object.fromEntries(pairs.map(([row, value]) => [variableOf(row), value]));
  const fromEnv = await readOptions([], env(variables), HOST);
  assert.deepEqual(fromEnv.options, expected);
  assert.deepEqual(fromEnv.origins, forEachOption(() => "environment"));
  const fromFlags = await readOptions(
    pairs.map(([row, value]) => `--${row.flag}=${value}`),
    env({}),
    HOST,
  );
  assert.deepEqual(fromFlags.options, expected);
  assert.deepEqual(fromFlags.origins, forEachOption(() => "flag"));
});
