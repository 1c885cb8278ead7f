import type { z } from "zod";
import {
  byteSize,
  KvLocation,
  ListenHost,
  oneOf,
  Origin,
  PathText,
  Switch,
  wholeNumber,
} from "./option_values.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export const LOG_FORMATS = ["auto", "json", "pretty"] as const;

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
  stdio: boolean;
  /** With stdio: never bridge to a gateway that already runs. */
  standalone: boolean;
  enableOptimization: boolean;
  /** An origin, such as `https://tools.example.com`. */
  publicUrl: string | undefined;
  /** Bytes. */
  maxBody: number;
  development: boolean;
}

export type OptionName = keyof Options;

/** One row of the table that parsing, help and documentation are made from. */
export interface OptionDefinition<T> {
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
    meaning: `Least important entries to log: ${LOG_LEVELS.join(", ")}`,
  },
  logFormat: {
    flag: "log-format",
    placeholder: "FORMAT",
    schema: oneOf(LOG_FORMATS),
    fallback: "auto",
    fallbackText: "auto: pretty on a terminal, else json",
    must: `one of ${LOG_FORMATS.join(", ")}`,
    meaning: `Form of the log on the terminal: ${LOG_FORMATS.join(", ")}`,
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
    meaning: "With --stdio: do not join a gateway that already runs",
  },
  enableOptimization: {
    flag: "enable-optimization",
    schema: Switch,
    fallback: false,
    fallbackText: "off",
    must: "true or false",
    meaning: "Offer to measure and rewrite tool descriptions",
  },
  publicUrl: {
    flag: "public-url",
    placeholder: "URL",
    schema: Origin,
    fallback: undefined,
    fallbackText: "none",
    must: "an http or https URL without a path, such as https://tools.example.com",
    meaning: "Address at which others reach this gateway",
  },
  maxBody: {
    flag: "max-body",
    placeholder: "SIZE",
    schema: byteSize(1024, 1024 ** 3),
    fallback: 4 * 1024 ** 2,
    fallbackText: "4MiB",
    must: "a size from 1KiB to 1GiB, such as 4MiB or 524288",
    meaning: "Largest request body that is accepted",
  },
  development: {
    flag: "dev",
    schema: Switch,
    fallback: false,
    fallbackText: "off",
    must: "true or false",
    meaning: "Development mode, as `deno task dev` sets it",
  },
};

/** Something for every option, under its name. */
export function forEachOption<T>(make: (name: OptionName) => T): Record<OptionName, T> {
  return {
    port: make("port"),
    host: make("host"),
    config: make("config"),
    dataDir: make("dataDir"),
    kv: make("kv"),
    logLevel: make("logLevel"),
    logFormat: make("logFormat"),
    logRetention: make("logRetention"),
    stdio: make("stdio"),
    standalone: make("standalone"),
    enableOptimization: make("enableOptimization"),
    publicUrl: make("publicUrl"),
    maxBody: make("maxBody"),
    development: make("development"),
  };
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
