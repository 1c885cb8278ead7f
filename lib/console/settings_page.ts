import type { Gateway } from "../compose.ts";
import { type OptionName, OPTIONS, settingsKeyOf, variableOf } from "../config/option_table.ts";
import { formatBytes } from "./ui/format.ts";

export interface SettingRow {
  name: OptionName;
  flag: string;
  variable: string;
  settingsKey: string;
  meaning: string;
  /** As a person reads it; undefined where it is not set. */
  value?: string;
  fallback: string;
  origin: string;
}

export interface SettingsPage {
  rows: SettingRow[];
  about: {
    version: string;
    deno: string;
    system: string;
    platform: "local" | "deploy";
    dataDir?: string;
    logLevel: string;
    address: string;
    startedAt: number;
  };
}

/** Every option as it is in effect, and where it was set. */
export function settingsPage(
  gateway: Pick<Gateway, "options" | "platform" | "version" | "address" | "startedAt">,
  runtime: { deno: string; system: string },
): SettingsPage {
  const { options, origins } = gateway.options;
  const names = Object.keys(OPTIONS) as OptionName[];
  return {
    rows: names.map((name) => {
      const option = OPTIONS[name];
      const value = shownValue(name, options[name]);
      return {
        name,
        flag: `--${option.flag}`,
        variable: variableOf(option),
        settingsKey: settingsKeyOf(option),
        meaning: option.meaning,
        ...(value === undefined ? {} : { value }),
        fallback: option.fallbackText,
        origin: origins[name],
      };
    }),
    about: {
      version: gateway.version,
      deno: runtime.deno,
      system: runtime.system,
      platform: gateway.platform.name,
      ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
      logLevel: options.logLevel,
      address: gateway.address,
      startedAt: gateway.startedAt,
    },
  };
}

function shownValue(name: OptionName, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (OPTIONS[name].isSecret) return "••••";
  if (typeof value === "object") {
    return Object.keys(value ?? {}).length === 0 ? undefined : JSON.stringify(value);
  }
  if (typeof value === "boolean") return value ? "On" : "Off";
  if (name === "maxBody" && typeof value === "number") return formatBytes(value);
  return maskUrl(String(value));
}

/** A URL's credentials and query may be secrets; its host and path are not. */
export function maskUrl(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  const url = URL.parse(text);
  if (url === null) return "••••";
  const user = url.username === "" && url.password === "" ? "" : "••••@";
  const query = url.search === "" ? "" : "?••••";
  return `${url.protocol}//${user}${url.host}${url.pathname === "/" ? "" : url.pathname}${query}`;
}
