import type { CommandFlag } from "../config/command_line.ts";
import { configError } from "../config/files.ts";
import type { NextStep } from "../core/errors.ts";
import { choicesOf, fieldsOf, type InputField, isList, isSwitch, readField } from "./fields.ts";
import type { Operation } from "./operation.ts";

/** A usage line with more optional flags than these only says that there are some. */
const MOST_SHOWN = 4;

/** What a user wrote after the command's name. */
export interface Written {
  positionals: readonly string[];
  /** The values of each flag; of a switch, none. */
  flags: ReadonlyMap<string, readonly string[]>;
}

export interface Placeholder {
  field: InputField;
  label: string;
  isRequired: boolean;
  isRepeated: boolean;
}

/** The command's name without its placeholders: `toolset equip`. */
export function commandName({ cli = "" }: Pick<Operation, "cli">): string {
  return cli.split(" ").filter((word) => /^[a-z]/.test(word)).join(" ");
}

/** `NAME`, `[NAME]`, `TOOL...`, `[TOOL...]`: the fields that are written without a flag. */
export function placeholdersOf({ cli = "", input }: Pick<Operation, "cli" | "input">) {
  const fields = fieldsOf(input);
  return cli.split(" ").filter((word) => /^\[?[A-Z]/.test(word)).map((word): Placeholder => {
    const label = word.replaceAll(/[[\].]/g, "");
    const plain = label.toLowerCase().replaceAll(/[._-]/g, "");
    const field = fields.find(({ name }) =>
      [plain, `${plain}s`, `${plain}id`].includes(name.toLowerCase())
    );
    if (!field) throw new Error(`${cli}: the input has no field for ${label}`);
    return {
      field,
      label,
      isRequired: !word.startsWith("["),
      isRepeated: word.includes("..."),
    };
  });
}

/** The fields that are written as flags. */
export function flagFieldsOf(
  operation: Pick<Operation, "cli" | "input" | "fileInput">,
): InputField[] {
  const placed = new Set(placeholdersOf(operation).map(({ field }) => field.name));
  return fieldsOf(operation.input).filter(({ name, hints }) =>
    !placed.has(name) && !hints.isHidden
  );
}

/** A switch that is on by default is written as what switches it off: `--no-promote`. */
export function flagName(field: InputField): string {
  const { name, hints } = field;
  const flag = hints.flag ?? name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return isSwitchedOff(field) ? `no-${flag}` : flag;
}

function isSwitchedOff(field: InputField): boolean {
  return isSwitch(field) && field.default === true;
}

export function flagOf(field: InputField): CommandFlag {
  const choices = choicesOf(field);
  const { name, hints } = field;
  const description = meaningOf(field);
  const value = field.default;
  const isShown = value !== undefined && !isSwitch(field) &&
    !(Array.isArray(value) && value.length === 0);
  const text = Array.isArray(value) ? value.join(",") : String(value);
  return {
    flag: flagName(field),
    ...(isSwitch(field)
      ? {}
      : { placeholder: hints.placeholder ?? choices?.join("|") ?? name.toUpperCase() }),
    meaning: isShown ? `${description} (default: ${text})` : description,
  };
}

/** The field's help or description; without one, its name in words. */
function meaningOf(field: InputField): string {
  const words = field.name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const description = field.hints.help ?? field.description ??
    words[0]!.toUpperCase() + words.slice(1);
  if (!isSwitchedOff(field)) return description;
  return `Do not ${description[0]!.toLowerCase()}${description.slice(1)}`;
}

/** The whole usage line: `toolset create NAME TOOL... [--replace]`. */
export function usageOf(operation: Operation): string {
  const written = flagFieldsOf(operation).map((field) => {
    const text = writtenFlag(field);
    return field.isRequired ? text : `[${text}]`;
  });
  const optional = written.filter((text) => text.startsWith("["));
  const flags = optional.length <= MOST_SHOWN
    ? written
    : [...written.filter((text) => !optional.includes(text)), "[OPTIONS]"];
  const more = operation.follow
    ? operation.effect === "read" ? ["[--follow]"] : ["[--yes]", "[--detach]"]
    : operation.confirm
    ? ["[--yes]"]
    : "file" in operation.output
    ? ["[--output FILE]"]
    : [];
  return [operation.cli, ...flags, ...more].join(" ");
}

/** `--name NAME`, or `--replace` for a switch. */
function writtenFlag(field: InputField): string {
  const { flag, placeholder } = flagOf(field);
  return placeholder === undefined ? `--${flag}` : `--${flag} ${placeholder}`;
}

/** The input of an operation from what was written. */
export function readWritten(operation: Operation, { positionals, flags }: Written) {
  const input: Record<string, unknown> = {};
  const rest = [...positionals];
  for (const { field, label, isRequired, isRepeated } of placeholdersOf(operation)) {
    const texts = isRepeated ? rest.splice(0) : rest.splice(0, 1);
    if (texts.length > 0) input[field.name] = readField(field, texts);
    else if (isRequired) throw misused(operation, `requires ${label}`);
  }
  if (rest.length > 0) throw misused(operation, `does not take "${rest[0]}"`);
  for (const field of flagFieldsOf(operation)) {
    const texts = flags.get(flagName(field));
    if (texts === undefined) {
      if (field.isRequired) throw misused(operation, `requires --${flagName(field)}`);
      continue;
    }
    const value = readField(field, isList(field) ? texts.flatMap(splitList) : texts);
    input[field.name] = isSwitchedOff(field) && typeof value === "boolean" ? !value : value;
  }
  return input;
}

/** Whether an operation takes as many names and flags as were written; one command may run several. */
export function fits(operation: Operation, { positionals, flags }: Written): boolean {
  const placeholders = placeholdersOf(operation);
  const least = placeholders.filter(({ isRequired }) => isRequired).length;
  const most = placeholders.some(({ isRepeated }) => isRepeated) ? Infinity : placeholders.length;
  return positionals.length >= least && positionals.length <= most &&
    flagFieldsOf(operation).every((field) => !field.isRequired || flags.has(flagName(field)));
}

function splitList(text: string): string[] {
  return text.split(",").map((part) => part.trim()).filter((part) => part !== "");
}

function misused(operation: Operation, problem: string): Error {
  const required = flagFieldsOf(operation).filter(({ isRequired }) => isRequired).map(writtenFlag);
  return configError(
    `${commandName(operation)} ${problem}`,
    `Usage: ${["quartermaster", operation.cli, ...required].join(" ")}`,
  );
}

/** A next step as a command to copy; undefined if there is none. */
export function stepCommand(
  { operation: name, input = {} }: NextStep,
  operations: ReadonlyMap<string, Operation>,
): string | undefined {
  const operation = operations.get(name);
  if (operation?.cli === undefined) return undefined;
  const placed = placeholdersOf(operation).flatMap(({ field, label }) => {
    const value = input[field.name];
    if (value === undefined) return field.isRequired ? [label] : [];
    return (Array.isArray(value) ? value : [value]).map(String);
  });
  const flags = flagFieldsOf(operation).flatMap((field) => {
    const value = input[field.name];
    if (value === undefined || (isSwitch(field) && value === (field.default ?? false))) return [];
    return isSwitch(field) ? [`--${flagName(field)}`] : [`--${flagName(field)}`, String(value)];
  });
  const words = [...placed, ...flags].map((word) =>
    /^[\w.@:/,+-]+$/.test(word) ? word : `'${word}'`
  );
  return ["quartermaster", commandName(operation), ...words].join(" ");
}
