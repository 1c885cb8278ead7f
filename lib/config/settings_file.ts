import { getNodeValue } from "jsonc-parser";
import { members, parseJsonObject, type Position } from "./json_document.ts";
import { nearest } from "../core/nearest.ts";
import { optionRows, settingsKeyOf } from "./option_table.ts";
import type { Problem } from "./problem.ts";
import { findTextFile } from "./text_file.ts";

export const SETTINGS_FILE = "settings.json";

export interface Settings {
  file: string;
  values: Map<string, { value: unknown; position: Position }>;
  problems: Problem[];
}

/** What the settings file says, not yet checked; undefined where there is none. */
export async function findSettings(file: string): Promise<Settings | undefined> {
  const text = await findTextFile(file);
  if (text === undefined) return undefined;
  const document = parseJsonObject(text, file, '{ "port": 3333 }');
  const known = optionRows().map(settingsKeyOf);
  const settings: Settings = { file, values: new Map(), problems: [] };
  const warn = (position: Position, message: string, fix: string) =>
    settings.problems.push({ severity: "warning", file, ...position, message, fix });

  for (const { name, key, value } of members(document.root)) {
    const position = document.position(key.offset);
    if (name === "$schema") continue;
    if (!known.includes(name)) {
      const guess = nearest(name, known);
      warn(
        position,
        `there is no setting "${name}"`,
        guess === undefined ? "Remove it" : `Did you mean "${guess}"?`,
      );
      continue;
    }
    const earlier = settings.values.get(name);
    if (earlier) {
      warn(
        position,
        `"${name}" is set twice; this one counts, not the one in line ${earlier.position.line}`,
        "Remove one of them",
      );
    }
    settings.values.set(name, {
      value: getNodeValue(value),
      position: document.position(value.offset),
    });
  }
  return settings;
}
