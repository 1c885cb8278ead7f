import * as z from "zod";
import { ModelFamily } from "../core/model_family.ts";
import { AnswerMode } from "../core/server.ts";
import {
  anyText,
  byteSize,
  FilePath,
  FolderPath,
  Fraction,
  HttpOrigin,
  HttpUrl,
  json,
  KvLocation,
  ListenHost,
  oneOf,
  type OptionValue,
  Switch,
  text,
  timeSpan,
  wholeNumber,
} from "./option_values.ts";

const MODEL_REFS =
  /^(claude-cli|messages-api|openai-api):[^\s,]+(,(claude-cli|messages-api|openai-api):[^\s,]+){0,7}$/;

export const GATEWAY_LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export const EMBEDDINGS = ["none", "local", "transformers", "ollama", "openai"] as const;
const EVALUATORS = ["auto", "claude-cli", "messages-api", "openai-api"] as const;
const LOG_FORMATS = ["auto", "json", "pretty"] as const;

/** One row of the table that parsing, help and documentation are made from. */
interface OptionDefinition<T> extends OptionValue<T> {
  /** Without dashes; the variable and the settings key follow from it. */
  flag: string;
  /** Stands for the value in the help; a switch has none. */
  placeholder?: string;
  fallback: T;
  /** The default, as the help shows it. */
  fallbackText: string;
  meaning: string;
  isSecret?: true;
  /** Can be changed while the gateway runs: its readers look at each use. */
  isLive?: true;
}

/** `heading` is the flag with its placeholder, as the help shows it. */
function option(heading: string, meaning: string) {
  const [flag = "", placeholder] = heading.slice(2).split(" ");
  const named = { flag, meaning, ...(placeholder === undefined ? {} : { placeholder }) };
  const takes = <T>(
    value: OptionValue<T>,
    fallback: NoInfer<T>,
    fallbackText = String(fallback),
  ): OptionDefinition<T> => ({ ...named, ...value, fallback, fallbackText });
  const optional = <T>(value: OptionValue<T>, fallbackText = "none") =>
    takes<T | undefined>(value, undefined, fallbackText);
  return {
    takes,
    optional,
    secret: (value: OptionValue<string>, fallbackText?: string) => ({
      ...optional(value, fallbackText),
      isSecret: true as const,
    }),
    toggle: (fallbackText = "off") => takes(Switch, false, fallbackText),
  };
}

function live<T>(definition: OptionDefinition<T>): OptionDefinition<T> {
  return { ...definition, isLive: true };
}

const TABLE = {
  port: option("--port PORT", "Port to listen on; 0 lets the system choose").takes(
    wholeNumber(0, 65535),
    3333,
  ),
  host: option("--host HOST", "Address to listen on; 0.0.0.0 for every network").takes(
    ListenHost,
    "127.0.0.1",
  ),
  config: option("--config FILE", "File that lists the servers").optional(
    FilePath,
    "./.mcp.json, then mcp.json in the config folder",
  ),
  /** Undefined only if nothing written would stay. */
  dataDir: option("--data-dir FOLDER", "Folder for the data store and the logs").optional(
    FolderPath,
    "the platform's data folder",
  ),
  /** Undefined if the platform has a store of its own. */
  kv: option("--kv LOCATION", "Data store: a file, :memory: or the URL of a KV server").optional(
    KvLocation,
    "quartermaster.kv in the data folder",
  ),
  logLevel: live(
    option("--log-level LEVEL", `Minimum log level: ${GATEWAY_LOG_LEVELS.join(", ")}`).takes(
      oneOf(GATEWAY_LOG_LEVELS),
      "info",
    ),
  ),
  logFormat: option("--log-format FORMAT", `Format of the log on stderr: ${LOG_FORMATS.join(", ")}`)
    .takes(oneOf(LOG_FORMATS), "auto", "auto: banner and warnings on a terminal, else json"),
  logRetention: option("--log-retention COUNT", "Number of log files to keep").takes(
    wholeNumber(1, 10_000),
    20,
  ),
  activityRetention: live(
    option("--activity-retention DAYS", "Days to keep tool calls and their counts")
      .takes(wholeNumber(1, 3_650), 30),
  ),
  activityCalls: live(
    option("--activity-calls COUNT", "Approximate number of newest tool calls to keep")
      .takes(wholeNumber(100, 10_000_000), 100_000),
  ),
  callExamples: live(
    option(
      "--call-examples",
      "Show a caller's own successful arguments, without secrets, as examples to its model",
    ).toggle(),
  ),
  learnPrompts: live(
    option(
      "--learn-prompts",
      "Propose golden prompts from recorded searches and calls, for review",
    ).toggle(),
  ),
  stdio: option("--stdio", "Serve MCP over stdin and stdout instead of a port").toggle(),
  standalone: option("--standalone", "With --stdio: do not join a running gateway").toggle(),
  enableOptimization: option(
    "--enable-optimization",
    "Enable evaluating and rewriting tool descriptions",
  ).toggle(),
  evaluator: option("--evaluator KIND", `Evaluator for descriptions: ${EVALUATORS.join(", ")}`)
    .takes(
      oneOf(EVALUATORS),
      "auto",
      "auto: the claude CLI if it can run, else the Messages API if a key is set",
    ),
  claudePath: option("--claude-path PROGRAM", "The claude CLI that evaluations run").takes(
    anyText(4_096, "a program name or path"),
    "claude",
    "claude on PATH",
  ),
  evalModel: option("--eval-model NAME", "Model for evaluations and generated text").optional(
    anyText(200, "a model name"),
    "sonnet for the CLI, claude-sonnet-4-5 for the Messages API",
  ),
  evalModels: option(
    "--eval-models LIST",
    "Models that jobs test with, such as claude-cli:sonnet,openai-api:gpt-5-mini",
  ).optional(
    text(MODEL_REFS, "a list of EVALUATOR:MODEL, separated by commas"),
    "the one of --evaluator and --eval-model",
  ),
  modelPrices: option("--model-prices JSON", "USD per million tokens, by model name").takes(
    json(
      z.record(
        z.string(),
        z.strictObject({ input: z.number().min(0), output: z.number().min(0) }),
      ),
      'an object of prices, such as {"gpt-5-mini":{"input":0.25,"output":2}}',
    ),
    {},
    "built-in prices only",
  ),
  clientFamilies: option(
    "--client-families JSON",
    "Model families of clients, by the start of their names",
  ).takes(
    json(
      z.record(z.string(), ModelFamily),
      'an object of families, such as {"cursor":"claude"}',
    ),
    {},
    "built-in families only",
  ),
  evalConcurrency: option("--eval-concurrency COUNT", "Number of concurrent evaluation runs").takes(
    wholeNumber(1, 32),
    2,
  ),
  /** In ms. */
  evalTimeout: option("--eval-timeout TIME", "Time limit for one evaluation run").takes(
    timeSpan(1_000, 600_000, "a time from 1s to 10m, such as 60s"),
    60_000,
    "60s",
  ),
  evalRetention: live(
    option(
      "--eval-retention DAYS",
      "Days to keep individual evaluation runs; results are kept",
    ).takes(wholeNumber(1, 3_650), 180),
  ),
  publicUrl: option("--public-url URL", "Public URL of this gateway").optional(
    HttpOrigin,
  ),
  requireToken: option("--require-token", "Require a token from everyone, even on this machine")
    .toggle("off; on if other machines can reach it"),
  harden: option(
    "--harden",
    "Let the gateway itself connect only to hosts that its configuration names",
  )
    .toggle(),
  adminToken: option("--admin-token TOKEN", "Initial token with every right; prefer the variable")
    .secret(text(/^[\x21-\x7e]{20,512}$/, "at least 20 characters without spaces")),
  token: option("--token TOKEN", "With --stdio: token for a running gateway; prefer the variable")
    .secret(text(/^[\x21-\x7e]{20,8192}$/, "a token of the gateway")),
  oauthIssuer: option(
    "--oauth-issuer URL",
    "Identity provider whose tokens the gateway also accepts",
  ).optional(HttpUrl),
  oauthAudience: option(
    "--oauth-audience TEXT",
    "Audience required in the identity provider's tokens",
  ).optional(text(/^[\x21-\x7e]{1,500}$/, "text without spaces"), "the public URL"),
  secretKey: option(
    "--secret-key KEY",
    "Key that encrypts secrets in the store; prefer the variable",
  ).secret(
    text(/^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/, "32 bytes in base64 or hex"),
    "secret.key in the data folder",
  ),
  allowPrivate: option(
    "--allow-private",
    "Allow adding servers in private networks at run time",
  ).toggle(),
  answers: option("--answers MODE", "Content guard for servers without a mode of their own").takes(
    oneOf(AnswerMode.options),
    "mark",
  ),
  packageCooldown: option(
    "--package-cooldown DAYS",
    "Minimum age of a package release before a server of npx or uvx may run it",
  ).takes(wholeNumber(0, 365), 0, "0"),
  /** In bytes. */
  maxBody: option("--max-body SIZE", "Maximum size of a request body").takes(
    byteSize(1024, 1024 ** 3, "a size from 1KiB to 1GiB, such as 4MiB or 524288"),
    4 * 1024 ** 2,
    "4MiB",
  ),
  /** In bytes. */
  maxMessage: option("--max-message SIZE", "Maximum size of a server's response").takes(
    byteSize(64 * 1024, 1024 ** 3, "a size from 64KiB to 1GiB, such as 16MiB"),
    16 * 1024 ** 2,
    "16MiB",
  ),
  /** In ms. */
  taskAfter: option(
    "--task-after TIME",
    "When a slow call continues as a task, for clients that support tasks; 0s for never",
  ).takes(
    timeSpan(0, 3_600_000, "a time from 0s to 1h, such as 30s"),
    30_000,
    "30s",
  ),
  // The gateway's own tools have names of up to 23 characters; MCP wants no more than 128.
  maxNameLength: option(
    "--max-name-length COUNT",
    "Maximum length of a listed tool name; longer names are truncated and end in a hash",
  ).takes(wholeNumber(24, 128), 60),
  embeddings: option(
    "--embeddings BACKEND",
    `Embeddings for semantic search: ${EMBEDDINGS.join(", ")}`,
  ).takes(oneOf(EMBEDDINGS), "local", "local: a small built-in model"),
  embeddingsUrl: option(
    "--embeddings-url URL",
    "URL of Ollama, an OpenAI-compatible API, or the hub to download a transformers model from",
  ).optional(HttpUrl, "http://127.0.0.1:11434 for ollama"),
  embeddingsModel: option(
    "--embeddings-model NAME",
    "Embedding model; for transformers a folder, or a name if the URL of a hub is set",
  ).optional(
    anyText(200, "a model name"),
    "nomic-embed-text for ollama",
  ),
  embeddingsKey: option(
    "--embeddings-key KEY",
    "API key for the embeddings URL; prefer the variable",
  ).secret(anyText(1_000, "a non-empty key")),
  hybridSearchRatio: option(
    "--hybrid-search-ratio 0..1",
    "Weight of semantic search if embeddings are on",
  ).takes(Fraction, 0.7),
  synonyms: option("--synonyms JSON", "Additional synonyms for search").takes(
    json(
      z.record(z.string(), z.array(z.string()).max(100)),
      'an object of lists, such as {"ticket":["issue","bug"]}',
    ),
    {},
    "built-in synonyms only",
  ),
  toolCategories: option("--tool-categories JSON", "Tool categories, by server.tool or server.*")
    .takes(
      json(
        z.record(z.string(), z.string().regex(/^[a-z0-9_-]{1,40}$/)),
        'an object of short names, such as {"linear.*":"issues"}',
      ),
      {},
      "inferred",
    ),
  otlp: option(
    "--otlp",
    "Send traces and metrics to an OpenTelemetry collector (OTEL_EXPORTER_OTLP_ENDPOINT)",
  ).toggle(),
  development: option(
    "--dev",
    "Development mode: log stack traces and source locations",
  ).toggle(),
};

export type OptionName = keyof typeof TABLE;

/** Everything that can be set when the gateway starts. */
export type Options = { [Name in OptionName]: (typeof TABLE)[Name]["fallback"] };

export const OPTIONS: { readonly [Name in OptionName]: OptionDefinition<Options[Name]> } = TABLE;

/** Every option once, under the heading that a person would look for. */
export const OPTION_GROUPS: Record<string, readonly OptionName[]> = {
  "Log": ["logLevel", "logFormat", "logRetention", "otlp", "development"],
  "Data and retention": [
    "config",
    "dataDir",
    "kv",
    "activityRetention",
    "activityCalls",
    "evalRetention",
  ],
  "Network": [
    "port",
    "host",
    "publicUrl",
    "allowPrivate",
    "maxBody",
    "maxMessage",
    "taskAfter",
    "stdio",
    "standalone",
  ],
  "Access": [
    "requireToken",
    "adminToken",
    "token",
    "oauthIssuer",
    "oauthAudience",
    "secretKey",
    "answers",
    "packageCooldown",
    "harden",
  ],
  "Tools and search": [
    "maxNameLength",
    "toolCategories",
    "synonyms",
    "callExamples",
    "embeddings",
    "embeddingsUrl",
    "embeddingsModel",
    "embeddingsKey",
    "hybridSearchRatio",
  ],
  "Optimization": [
    "enableOptimization",
    "learnPrompts",
    "evaluator",
    "claudePath",
    "evalModel",
    "evalModels",
    "modelPrices",
    "clientFamilies",
    "evalConcurrency",
    "evalTimeout",
  ],
};

export function forEachOption<T>(make: (name: OptionName) => T): Record<OptionName, T> {
  const names = Object.keys(OPTIONS) as OptionName[];
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<OptionName, T>;
}

export type AnyOption = OptionDefinition<unknown>;

export function optionRows(): AnyOption[] {
  return Object.values(OPTIONS);
}

/** `--data-dir` as a variable: QUARTERMASTER_DATA_DIR. */
export function variableOf(option: Pick<AnyOption, "flag">): string {
  return `QUARTERMASTER_${option.flag.replaceAll("-", "_").toUpperCase()}`;
}

/** `--data-dir` as a key of the settings file: dataDir. */
export function settingsKeyOf(option: Pick<AnyOption, "flag">): string {
  return option.flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
