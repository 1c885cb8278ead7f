import { z } from "zod";
import {
  byteSize,
  duration,
  fraction,
  HttpOrigin,
  HttpUrl,
  jsonOr,
  KvLocation,
  ListenHost,
  oneOf,
  PathText,
  Switch,
  wholeNumber,
} from "./option_values.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export const EMBEDDINGS = ["none", "local", "ollama", "openai"] as const;
const EVALUATORS = ["auto", "claude-cli", "messages-api"] as const;
const LOG_FORMATS = ["auto", "json", "pretty"] as const;

/** Everything that can be set when the gateway starts. */
export interface Options {
  port: number;
  host: string;
  /** The file that names the servers, where one was asked for. */
  config: string | undefined;
  /** Undefined only where nothing written would stay. */
  dataDir: string | undefined;
  /** A path, `:memory:` or a URL; undefined where the platform has a store of its own. */
  kv: string | undefined;
  logLevel: (typeof LOG_LEVELS)[number];
  logFormat: (typeof LOG_FORMATS)[number];
  /** How many log files are kept. */
  logRetention: number;
  /** How long calls are kept, in days. */
  activityRetention: number;
  /** About how many calls are kept. */
  activityCalls: number;
  stdio: boolean;
  /** With stdio: never bridge to a gateway that already runs. */
  standalone: boolean;
  enableOptimization: boolean;
  /** What puts prompts to a model; `auto`: the CLI where programs can be started. */
  evaluator: (typeof EVALUATORS)[number];
  claudePath: string;
  evalModel: string | undefined;
  /** Runs at a time. */
  evalConcurrency: number;
  /** How long one run may take, in ms. */
  evalTimeout: number;
  /** How long single runs are kept, in days. */
  evalRetention: number;
  /** An origin, such as `https://tools.example.com`. */
  publicUrl: string | undefined;
  /** A token is required, even from this machine. */
  requireToken: boolean;
  /** The first token, which may do everything. */
  adminToken: string | undefined;
  /** The token that `--stdio` sends to a gateway that already runs. */
  token: string | undefined;
  /** Whose tokens are taken beside the gateway's own. */
  oauthIssuer: string | undefined;
  /** What such a token must be made for; the public address where it is not set. */
  oauthAudience: string | undefined;
  /** What secrets in the store are encrypted with. */
  secretKey: string | undefined;
  /** Whether servers that are added at run time may be in private networks. */
  allowPrivate: boolean;
  /** Bytes. */
  maxBody: number;
  /** Characters of a name in a list. */
  maxNameLength: number;
  /** What turns texts into vectors, so that search knows what they mean. */
  embeddings: (typeof EMBEDDINGS)[number];
  embeddingsUrl: string | undefined;
  embeddingsModel: string | undefined;
  embeddingsKey: string | undefined;
  /** 0: by words alone, 1: by meaning alone. */
  hybridSearchRatio: number;
  /** Words that stand for each other in a search, beside the built-in ones. */
  synonyms: Record<string, string[]>;
  /** Categories by `server.tool` or `server.*`. */
  toolCategories: Record<string, string>;
  development: boolean;
}

export type OptionName = keyof Options;

/** One row of the table that parsing, help and documentation are made from. */
interface OptionDefinition<T> {
  /** Without dashes; the variable and the settings key follow from it. */
  flag: string;
  /** What stands for the value in the help; a switch has none. */
  placeholder?: string;
  schema: z.ZodType<T>;
  fallback: T;
  /** The default in words. */
  fallbackText: string;
  /** Ends the sentence "Cannot use X: it must be ...". */
  must: string;
  meaning: string;
  /** Never shown. */
  isSecret?: true;
}

export const OPTIONS: { readonly [Name in OptionName]: OptionDefinition<Options[Name]> } = {
  port: {
    flag: "port",
    placeholder: "PORT",
    schema: wholeNumber(0, 65535),
    fallback: 3333,
    fallbackText: "3333",
    must: "a whole number from 0 to 65535",
    meaning: "Port to listen on; 0 lets the system choose",
  },
  host: {
    flag: "host",
    placeholder: "HOST",
    schema: ListenHost,
    fallback: "127.0.0.1",
    fallbackText: "127.0.0.1",
    must: "a name or an IP address, without scheme and port",
    meaning: "Address to listen on; 0.0.0.0 for every network",
  },
  config: {
    flag: "config",
    placeholder: "FILE",
    schema: PathText,
    fallback: undefined,
    fallbackText: "./.mcp.json, then mcp.json in the config folder",
    must: "the path of a file",
    meaning: "File that names the servers",
  },
  dataDir: {
    flag: "data-dir",
    placeholder: "FOLDER",
    schema: PathText,
    fallback: undefined,
    fallbackText: "the platform's data folder",
    must: "the path of a folder",
    meaning: "Folder for the data store and the logs",
  },
  kv: {
    flag: "kv",
    placeholder: "LOCATION",
    schema: KvLocation,
    fallback: undefined,
    fallbackText: "quartermaster.kv in the data folder",
    must: 'the path of a file, ":memory:" or an http(s) URL',
    meaning: "Data store: a file, :memory: or the URL of a KV server",
  },
  logLevel: {
    flag: "log-level",
    placeholder: "LEVEL",
    schema: oneOf(LOG_LEVELS),
    fallback: "info",
    fallbackText: "info",
    must: `one of ${LOG_LEVELS.join(", ")}`,
    meaning: `Minimum log level: ${LOG_LEVELS.join(", ")}`,
  },
  logFormat: {
    flag: "log-format",
    placeholder: "FORMAT",
    schema: oneOf(LOG_FORMATS),
    fallback: "auto",
    fallbackText: "auto: banner and warnings on a terminal, else json",
    must: `one of ${LOG_FORMATS.join(", ")}`,
    meaning: `Format of the log on stderr: ${LOG_FORMATS.join(", ")}`,
  },
  logRetention: {
    flag: "log-retention",
    placeholder: "COUNT",
    schema: wholeNumber(1, 10_000),
    fallback: 20,
    fallbackText: "20",
    must: "a whole number from 1 to 10000",
    meaning: "Number of log files to keep",
  },
  activityRetention: {
    flag: "activity-retention",
    placeholder: "DAYS",
    schema: wholeNumber(1, 3_650),
    fallback: 30,
    fallbackText: "30",
    must: "a whole number from 1 to 3650",
    meaning: "Days to keep tool calls and their counts",
  },
  activityCalls: {
    flag: "activity-calls",
    placeholder: "COUNT",
    schema: wholeNumber(100, 10_000_000),
    fallback: 100_000,
    fallbackText: "100000",
    must: "a whole number from 100 to 10000000",
    meaning: "Approximate number of newest tool calls to keep",
  },
  stdio: {
    flag: "stdio",
    schema: Switch,
    fallback: false,
    fallbackText: "off",
    must: "true or false",
    meaning: "Speak MCP on standard input and output instead of a port",
  },
  standalone: {
    flag: "standalone",
    schema: Switch,
    fallback: false,
    fallbackText: "off",
    must: "true or false",
    meaning: "With --stdio: do not join a running gateway",
  },
  enableOptimization: {
    flag: "enable-optimization",
    schema: Switch,
    fallback: false,
    fallbackText: "off",
    must: "true or false",
    meaning: "Offer to measure and rewrite tool descriptions",
  },
  evaluator: {
    flag: "evaluator",
    placeholder: "KIND",
    schema: oneOf(EVALUATORS),
    fallback: "auto",
    fallbackText: "auto: claude-cli if programs can be started, else messages-api",
    must: `one of ${EVALUATORS.join(", ")}`,
    meaning: `How descriptions are evaluated: ${EVALUATORS.join(", ")}`,
  },
  claudePath: {
    flag: "claude-path",
    placeholder: "PROGRAM",
    schema: z.string().min(1).max(4_096),
    fallback: "claude",
    fallbackText: "claude on the PATH",
    must: "a program's name or path",
    meaning: "The claude CLI that evaluations run",
  },
  evalModel: {
    flag: "eval-model",
    placeholder: "NAME",
    schema: z.string().min(1).max(200),
    fallback: undefined,
    fallbackText: "sonnet for the CLI, claude-sonnet-4-5 for the API",
    must: "the name of a model",
    meaning: "Model for evaluations and generated text",
  },
  evalConcurrency: {
    flag: "eval-concurrency",
    placeholder: "COUNT",
    schema: wholeNumber(1, 32),
    fallback: 2,
    fallbackText: "2",
    must: "a whole number from 1 to 32",
    meaning: "Number of evaluation runs at once",
  },
  evalTimeout: {
    flag: "eval-timeout",
    placeholder: "TIME",
    schema: duration(1_000, 600_000),
    fallback: 60_000,
    fallbackText: "60s",
    must: "a time from 1s to 10m, such as 60s",
    meaning: "Time limit for one evaluation run",
  },
  evalRetention: {
    flag: "eval-retention",
    placeholder: "DAYS",
    schema: wholeNumber(1, 3_650),
    fallback: 180,
    fallbackText: "180",
    must: "a whole number from 1 to 3650",
    meaning: "Days to keep individual evaluation runs; results are kept",
  },
  publicUrl: {
    flag: "public-url",
    placeholder: "URL",
    schema: HttpOrigin,
    fallback: undefined,
    fallbackText: "none",
    must: "an http or https URL without a path, such as https://tools.example.com",
    meaning: "URL at which others reach this gateway",
  },
  requireToken: {
    flag: "require-token",
    schema: Switch,
    fallback: false,
    fallbackText: "off; on if other machines can reach it",
    must: "true or false",
    meaning: "Require a token from everyone, even on this machine",
  },
  adminToken: {
    flag: "admin-token",
    placeholder: "TOKEN",
    schema: z.string().regex(/^[\x21-\x7e]{20,512}$/),
    fallback: undefined,
    fallbackText: "none",
    must: "at least 20 characters without spaces",
    meaning: "First token, with every right; prefer the variable",
    isSecret: true,
  },
  token: {
    flag: "token",
    placeholder: "TOKEN",
    schema: z.string().regex(/^[\x21-\x7e]{20,8192}$/),
    fallback: undefined,
    fallbackText: "none",
    must: "a token of the gateway's",
    meaning: "With --stdio: token for a running gateway; prefer the variable",
    isSecret: true,
  },
  oauthIssuer: {
    flag: "oauth-issuer",
    placeholder: "URL",
    schema: HttpUrl,
    fallback: undefined,
    fallbackText: "none",
    must: "an http or https URL",
    meaning: "Identity provider whose tokens are accepted, besides the gateway's own",
  },
  oauthAudience: {
    flag: "oauth-audience",
    placeholder: "TEXT",
    schema: z.string().regex(/^[\x21-\x7e]{1,500}$/),
    fallback: undefined,
    fallbackText: "the public address",
    must: "text without spaces",
    meaning: "Audience required in the identity provider's tokens",
  },
  secretKey: {
    flag: "secret-key",
    placeholder: "KEY",
    schema: z.string().regex(/^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/),
    fallback: undefined,
    fallbackText: "secret.key in the data folder",
    must: "32 bytes in base64 or hex",
    meaning: "Key that encrypts secrets in the store; prefer the variable",
    isSecret: true,
  },
  allowPrivate: {
    flag: "allow-private",
    schema: Switch,
    fallback: false,
    fallbackText: "off",
    must: "true or false",
    meaning: "Allow servers added at run time to be in private networks",
  },
  maxBody: {
    flag: "max-body",
    placeholder: "SIZE",
    schema: byteSize(1024, 1024 ** 3),
    fallback: 4 * 1024 ** 2,
    fallbackText: "4MiB",
    must: "a size from 1KiB to 1GiB, such as 4MiB or 524288",
    meaning: "Maximum size of a request body",
  },
  maxNameLength: {
    flag: "max-name-length",
    placeholder: "COUNT",
    // The gateway's own tools have names of up to 23 characters; MCP wants no more than 128.
    schema: wholeNumber(24, 128),
    fallback: 60,
    fallbackText: "60",
    must: "a whole number from 24 to 128",
    meaning: "Maximum length of a listed tool name; longer names are cut and end in a hash",
  },
  embeddings: {
    flag: "embeddings",
    placeholder: "BACKEND",
    schema: oneOf(EMBEDDINGS),
    fallback: "local",
    fallbackText: "local: a small built-in model",
    must: `one of ${EMBEDDINGS.join(", ")}`,
    meaning: `Embeddings for semantic search: ${EMBEDDINGS.join(", ")}`,
  },
  embeddingsUrl: {
    flag: "embeddings-url",
    placeholder: "URL",
    schema: HttpUrl,
    fallback: undefined,
    fallbackText: "http://127.0.0.1:11434 for ollama",
    must: "an http or https URL",
    meaning: "URL of Ollama or an OpenAI-compatible API",
  },
  embeddingsModel: {
    flag: "embeddings-model",
    placeholder: "NAME",
    schema: z.string().min(1).max(200),
    fallback: undefined,
    fallbackText: "nomic-embed-text for ollama",
    must: "the name of a model",
    meaning: "Embedding model",
  },
  embeddingsKey: {
    flag: "embeddings-key",
    placeholder: "KEY",
    schema: z.string().min(1).max(1_000),
    fallback: undefined,
    fallbackText: "none",
    must: "a key",
    meaning: "API key for the embeddings URL; prefer the variable",
    isSecret: true,
  },
  hybridSearchRatio: {
    flag: "hybrid-search-ratio",
    placeholder: "0..1",
    schema: fraction,
    fallback: 0.7,
    fallbackText: "0.7",
    must: "a number from 0 to 1",
    meaning: "Weight of semantic search if embeddings are on",
  },
  synonyms: {
    flag: "synonyms",
    placeholder: "JSON",
    schema: jsonOr(z.record(z.string(), z.array(z.string()).max(100))),
    fallback: {},
    fallbackText: "the built-in ones",
    must: 'an object of lists, such as {"ticket":["issue","bug"]}',
    meaning: "Additional synonyms for search",
  },
  toolCategories: {
    flag: "tool-categories",
    placeholder: "JSON",
    schema: jsonOr(z.record(z.string(), z.string().regex(/^[a-z0-9_-]{1,40}$/))),
    fallback: {},
    fallbackText: "inferred",
    must: 'an object of short names, such as {"linear.*":"issues"}',
    meaning: "Tool categories, by server.tool or server.*",
  },
  development: {
    flag: "dev",
    schema: Switch,
    fallback: false,
    fallbackText: "off",
    must: "true or false",
    meaning: "Development mode: stack traces in the log, and the place that logged",
  },
};

/** Something for every option, under its name. */
export function forEachOption<T>(make: (name: OptionName) => T): Record<OptionName, T> {
  const names = Object.keys(OPTIONS) as OptionName[];
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<OptionName, T>;
}

/** Any row, its type of value forgotten. */
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
