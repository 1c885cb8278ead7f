import { stripVTControlCharacters, styleText } from "node:util";
import { type Env, nonEmpty } from "../config/platform.ts";
import { type ErrorCode, GatewayError } from "../core/errors.ts";
import { showHidden, visibleJson } from "../core/text.ts";
import { writeToStderr } from "../telemetry/log_lines.ts";

const encoder = new TextEncoder();

/** Codes for a wrong command line; every other error is a failure of the command. */
const USAGE: ReadonlySet<ErrorCode> = new Set(["CONFIG_INVALID", "INVALID_ARGUMENTS"]);

export type Color = "green" | "yellow" | "red" | "gray";

export function print(text: string): void {
  const bytes = encoder.encode(text);
  try {
    for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
  } catch (error) {
    // The reader has enough, as `head` does.
    if (error instanceof Deno.errors.BrokenPipe) Deno.exit(0);
    throw error;
  }
}

export function printError(text: string): void {
  writeToStderr(text);
}

export function printJson(value: unknown): void {
  print(`${visibleJson(value, 2)}\n`);
}

/** Asks the person at the terminal; without a terminal the answer is no. */
export function ask(question: string): boolean {
  return isInteractive() && confirm(showHidden(inert(question)));
}

/** Asks a yes-or-no question at the terminal; Ctrl-C means no instead of ending the process. */
export async function askUntilCtrlC(question: string): Promise<boolean> {
  const refused = Promise.withResolvers<string>();
  const refuse = () => refused.resolve("");
  Deno.addSignalListener("SIGINT", refuse);
  try {
    print(showHidden(inert(`${question} [y/N] `)));
    const bytes = new Uint8Array(256);
    const typed = Deno.stdin.read(bytes)
      .then((length) => new TextDecoder().decode(bytes.subarray(0, length ?? 0)));
    const answer = await Promise.race([typed, refused.promise]);
    // Neither Ctrl-C nor the end of the input ends the question's line.
    if (answer === "") print("\n");
    return /^y$/i.test(answer.trim());
  } finally {
    Deno.removeSignalListener("SIGINT", refuse);
  }
}

export function isInteractive(): boolean {
  return Deno.stdin.isTerminal() && Deno.stdout.isTerminal();
}

/** Asks until one of the answers is given, by its first letter or whole; the last one at the end. */
export function askFor<T extends string>(question: string, answers: readonly [T, ...T[]]): T {
  const letters = answers.map((answer) => answer[0]).join("/");
  for (let tries = 0; tries < 20; tries++) {
    const given = prompt(showHidden(inert(`${question} [${letters}]`)))?.trim().toLowerCase();
    if (given === undefined) break;
    const answer = answers.find((answer) => answer === given || answer[0] === given);
    if (answer !== undefined) return answer;
    print(`Answer with ${answers.join(", ")}.\n`);
  }
  return answers.at(-1)!;
}

export type Paint = (color: Color, text: string) => string;

/** Colors text for a terminal, unless NO_COLOR is set. */
export function painter(env: Env): Paint {
  const isColored = isSteerable(Deno.stdout) && nonEmpty(env, "NO_COLOR") === undefined;
  return (color, text) => isColored ? styleText(color, text, { validateStream: false }) : text;
}

/** Whether a terminal understands what steers it, colors too. Emacs has one that does not. */
export function isSteerable(stream: { isTerminal(): boolean }): boolean {
  return stream.isTerminal() && Deno.env.get("TERM") !== "dumb";
}

/** Shows what is being done in a line that the next one replaces; false if there can be none. */
export function showStatus(text: string): boolean {
  if (!isSteerable(Deno.stderr)) return false;
  const width = Math.max(10, terminalWidth(Deno.stderr) - 1);
  const cut = text.length > width ? `${text.slice(0, width - 1)}…` : text;
  printError(`\r\x1b[K${cut}`);
  return true;
}

export function clearStatus(): void {
  if (isSteerable(Deno.stderr)) printError("\r\x1b[K");
}

/** Cuts lines that would wrap on this terminal; without a terminal, keeps them whole. */
export function cutToWidth(text: string): string {
  if (!Deno.stdout.isTerminal()) return text;
  const width = terminalWidth(Deno.stdout);
  return text.split("\n").map((line) => {
    const hidden = line.length - stripVTControlCharacters(line).length;
    return line.length - hidden > width ? `${line.slice(0, width + hidden - 1)}…` : line;
  }).join("\n");
}

/** How many columns a stream's terminal has; 80 if it has none. */
export function terminalWidth(stream: { isTerminal(): boolean }): number {
  try {
    return stream.isTerminal() ? Deno.consoleSize().columns || 80 : 80;
  } catch {
    return 80;
  }
}

/** A foreign text without what would steer the terminal. */
export function inert(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}

/** A foreign text in one line that does not steer the terminal. */
export function terminalLine(text: string): string {
  return inert(text).replaceAll(/\s+/g, " ").trim();
}

export function warningsText(warnings: readonly string[], paint: Paint): string {
  return warnings.map((warning) => {
    const text = terminalLine(warning.replace(/^Warning: /, ""));
    return `${paint("yellow", "Warning:")} ${text}\n`;
  }).join("");
}

export function minuteOf(time: number | string): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

/** What a table shows in one place. */
type Cell = string | number | undefined | { color: Color; text: string };

/** A list of items, or `empty`; lines that would wrap on this terminal are cut. */
export function listing<T>(...list: Parameters<typeof wholeListing<T>>): string {
  return cutToWidth(wholeListing(...list));
}

/** The items below their column titles, in full. */
export function wholeListing<T>(
  items: readonly T[],
  { paint, empty = "" }: { paint: Paint; empty?: string },
  columns: Record<string, (item: T) => Cell>,
): string {
  if (items.length === 0) return empty;
  const titles = Object.keys(columns).map((title) => paint("gray", title));
  const rows = items.map((item) =>
    Object.values(columns).map((cellOf) => {
      const cell = cellOf(item) ?? "";
      return typeof cell === "object"
        ? paint(cell.color, terminalLine(cell.text))
        : terminalLine(String(cell));
    })
  );
  return table([titles, ...rows]);
}

/** Facts about one thing, each after its label; those without a value are left out. */
export function factsText(facts: Record<string, string | undefined>, paint: Paint): string {
  const known = Object.entries(facts).flatMap(([label, value]) =>
    value === undefined ? [] : [[paint("gray", label), value]]
  );
  return table(known);
}

/** Rows in columns that line up, colored or not. */
export function table(rows: readonly (readonly string[])[]): string {
  const width = (cell: string) => stripVTControlCharacters(cell).length;
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => width(row[column] ?? "")))
  );
  return rows.map((row) => {
    const cells = row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - width(cell)));
    return `${cells.join("  ").trimEnd()}\n`;
  }).join("");
}

/** Says in one sentence what went wrong: 2 for what the user can correct, 1 for what is our fault. */
export function exitWith(error: unknown): never {
  if (error instanceof GatewayError && error.code !== "INTERNAL") {
    printError(errorLines(error));
    Deno.exit(2);
  }
  printError(`quartermaster: ${error instanceof Error ? error.stack ?? error.message : error}\n`);
  Deno.exit(Deno.exitCode || 1);
}

/** How a command ends that could not do its work: its own code, 2 if it was used wrongly, else 1. */
export function exitCommandWith(error: unknown, asJson: boolean): never {
  if (!(error instanceof GatewayError) || error.code === "INTERNAL") exitWith(error);
  if (asJson) printError(`${visibleJson({ error: error.toBody() })}\n`);
  else printError(errorLines(error));
  Deno.exit(Deno.exitCode || (USAGE.has(error.code) ? 2 : 1));
}

export function errorLines({ message, details }: GatewayError): string {
  const { recoveryAction, recoverySteps, hint } = details;
  const steps = recoverySteps ?? (recoveryAction === undefined ? [] : [recoveryAction]);
  const advice = hint === undefined ? steps : [...steps, ...hint.split("\n")];
  // A message often ends with its advice.
  const bare = (text: string) => text.toLowerCase().replace(/\.$/, "");
  const lines = advice.filter((line) => !bare(message).endsWith(bare(line)));
  return inert(`quartermaster: ${message}\n${lines.map((line) => `  ${line}\n`).join("")}`);
}
