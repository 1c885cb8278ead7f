import { basename, dirname, resolve } from "@std/path";
import type { CommandFlag } from "../config/command_line.ts";
import { configError, findTextFile } from "../config/files.ts";
import { GatewayError, type NextStep } from "../core/errors.ts";
import { visibleJson } from "../core/text.ts";
import { OPERATIONS } from "../operations/all.ts";
import {
  commandName,
  fits,
  flagFieldsOf,
  flagOf,
  readWritten,
  stepCommand,
  usageOf,
  type Written,
} from "../operations/cli.ts";
import type { FileOutput, Operation } from "../operations/operation.ts";
import type { Command, CommandInput } from "./command.ts";
import { openTarget, type OperationTarget } from "./operation_target.ts";
import {
  ask,
  clearStatus,
  inert,
  isInteractive,
  painter,
  print,
  showStatus,
  warningsText,
} from "./terminal.ts";

export interface OutcomeView {
  paint: ReturnType<typeof painter>;
  /** Whether the outcome's job was followed to its end. */
  isFollowed: boolean;
  /** Whether a gateway is running, so that states of servers and tools mean something. */
  isRunning: boolean;
  input: Record<string, unknown>;
  flags: CommandInput["flags"];
}

export interface CommandExtras {
  /** The usage line, if the operation's fields do not say all of it. */
  usage?: string;
  /** What it does, if that is not all of what the operation does, or more. */
  meaning?: string;
  details?: string[];
  /** Flags that only `read` knows. */
  flags?: CommandFlag[];
  /** Reads an input that the operation's own flags cannot express. */
  read?(input: CommandInput): Promise<Record<string, unknown>> | Record<string, unknown>;
  /** Whether the operation is the one that is meant, if it shares its command with others. */
  isMeant?(input: CommandInput): boolean;
  /** Does all of the command, if that is more than to run the operation once. */
  run?: Command["run"];
  /** Completes the input by what the gateway knows, and asks before protection is loosened. */
  prepare?(
    given: Record<string, unknown>,
    command: CommandInput,
    target: OperationTarget,
  ): Promise<Record<string, unknown>>;
  waiting?: string;
  /** The outcome on a terminal; default: the operation's text. */
  // deno-lint-ignore no-explicit-any
  show?(output: any, view: OutcomeView): string;
  /** What is printed if no gateway is running; default: how to start one. */
  offline?: string;
  /** The exit code of an outcome; default: 0. */
  // deno-lint-ignore no-explicit-any
  exitCode?(output: any): number;
  /** The exit code if it could not run at all; default: 1. */
  failureCode?: number;
  /** Writes files that the command was asked for besides its outcome. */
  // deno-lint-ignore no-explicit-any
  finish?(output: any, command: CommandInput): Promise<void>;
}

export const YES: CommandFlag = {
  flag: "yes",
  meaning: "Skip the confirmation; required without a terminal",
};
const DETACH: CommandFlag = {
  flag: "detach",
  meaning: "Return as soon as the job has started",
};
const FOLLOW: CommandFlag = { flag: "follow", meaning: "Show progress until the job ends" };
const FILE_FLAGS: CommandFlag[] = [
  { flag: "output", placeholder: "FILE", meaning: "Write to this file instead of stdout" },
  { flag: "force", meaning: "Overwrite the file if it exists" },
];
export const NOT_RUNNING = "No gateway is running: start one with `quartermaster start`.\n";

/** The commands of operations, by name; `extras` are keyed by operation. */
export function operationCommands(
  operations: Iterable<Operation>,
  extras: Record<string, CommandExtras>,
): Record<string, Command> {
  const all = [...operations].filter(({ cli }) => cli !== undefined);
  return Object.fromEntries(
    Array.from(Map.groupBy(all, commandName), ([name, own]) => {
      const commands = own.map((each) => operationCommand(each, extras[each.name] ?? {}));
      const isMeant = (input: CommandInput, { operation }: Command) =>
        extras[operation!.name]?.isMeant?.(input);
      return [name, commands.length === 1 ? commands[0]! : sharedCommand(name, commands, isMeant)];
    }),
  );
}

/** One command for several operations: the first that takes what was written is run. */
function sharedCommand(
  name: string,
  commands: Command[],
  isMeant: (input: CommandInput, command: Command) => boolean | undefined,
): Command {
  const flags = commands.flatMap(({ flags = [] }) => flags);
  // Completion reads the values of flags there.
  const widest = Math.max(...commands.map(({ flags = [] }) => flags.length));
  return {
    operation: commands.findLast(({ flags = [] }) => flags.length === widest)!.operation!,
    usage: commands.map(({ usage }) => usage).join(" | "),
    meaning: commands.map(({ meaning }, nth) =>
      nth === 0 ? meaning : meaning[0]!.toLowerCase() + meaning.slice(1)
    ).join("; or "),
    details: commands.flatMap(({ details = [] }) => details),
    flags: [...new Map(flags.map((flag) => [flag.flag, flag])).values()],
    async run(input) {
      const written = writtenOf(input);
      const chosen = commands.find((command) => isMeant(input, command)) ??
        commands.find((command) =>
          isMeant(input, command) === undefined && fits(command.operation!, written)
        ) ?? commands.at(-1)!;
      const foreign = flags.find(({ flag }) =>
        input.flags.has(flag) && !chosen.flags?.some((own) => own.flag === flag)
      );
      if (!foreign) return await chosen.run(input);
      const takes = commands.find(({ flags }) => flags?.includes(foreign))!;
      throw configError(
        `${name} cannot use --${foreign.flag} in this form`,
        `Usage: quartermaster ${takes.usage}`,
      );
    },
  };
}

function operationCommand(operation: Operation, extras: CommandExtras): Command {
  const { description, title, confirm, output, follow, effect, isLive } = operation;
  return {
    operation,
    usage: extras.usage ?? usageOf(operation),
    meaning: extras.meaning ??
      (typeof description === "string" ? description : title).replace(/\.$/, ""),
    details: [...(isLive ? ["Requires a running gateway."] : []), ...extras.details ?? []],
    flags: [
      ...flagFieldsOf(operation).map(flagOf),
      ...extras.flags ?? [],
      ...("file" in output ? FILE_FLAGS : []),
      ...(confirm ? [YES] : []),
      ...(follow ? effect === "read" ? [FOLLOW] : [YES, DETACH] : []),
    ],
    async run(input) {
      try {
        return await runCommand(operation, extras, input);
      } catch (error) {
        if (extras.failureCode !== undefined) Deno.exitCode = extras.failureCode;
        throw error instanceof GatewayError ? withCommands(error) : error;
      }
    },
  };
}

async function runCommand(
  operation: Operation,
  extras: CommandExtras,
  input: CommandInput,
): ReturnType<Command["run"]> {
  if (extras.run) return await extras.run(input);
  const read = await (extras.read?.(input) ?? readInput(operation, input));
  if (operation.confirm) agree(commandName(operation), operation.confirm(read), input);
  // Without a gateway no job goes on, so that there is nothing to follow.
  const isLive = operation.isLive || input.flags.get("follow") === true;
  await using target = await openTarget(input, isLive);
  const given = await extras.prepare?.(read, input, target) ?? read;
  const { isRunning } = target;
  const textOf = (output: Record<string, unknown>, isFollowed: boolean) =>
    outcomeText(operation, extras, output, { isRunning, isFollowed, input: given }, input);
  if (operation.follow) {
    // Loaded when needed: few commands have a job.
    const { runFollowed } = await import("./job_progress.ts");
    const { output, exitCode, isFollowed } = await runFollowed({ operation, given, input, target });
    if (output === undefined) return exitCode;
    await extras.finish?.(output, input);
    return {
      data: output,
      text: textOf({ ...output }, isFollowed),
      exitCode: isFollowed ? extras.exitCode?.(output) ?? exitCode : exitCode,
    };
  }
  if (extras.waiting !== undefined) showStatus(extras.waiting);
  const data = await target.run(operation, given).finally(() => {
    if (extras.waiting !== undefined) clearStatus();
  });
  if ("file" in operation.output) return await writeFile(operation, data, input);
  const offline = isRunning || isStored(operation) ? "" : extras.offline ?? NOT_RUNNING;
  return { data, text: textOf(data, false) + offline, exitCode: extras.exitCode?.(data) ?? 0 };
}

/** Whether the outcome is the same with and without a gateway: it only concerns what is stored. */
function isStored({ name }: Operation): boolean {
  return /^(token|project|secret|audit|data)\./.test(name);
}

function writtenOf({ positionals, flags, values }: CommandInput): Written {
  const written = new Map<string, readonly string[]>(values);
  for (const [flag, value] of flags) {
    if (typeof value === "boolean") written.set(flag, [String(value)]);
  }
  return { positionals, flags: written };
}

export async function readInput(
  operation: Operation,
  command: CommandInput,
): Promise<Record<string, unknown>> {
  const input = readWritten(operation, writtenOf(command));
  const { fileInput } = operation;
  if (!fileInput) return input;
  return { ...input, [fileInput.field]: await readFile(String(input[fileInput.field])) };
}

/** The text of a file, or of standard input for `-`. */
export async function readFile(path: string): Promise<string> {
  if (path === "-") return await new Response(Deno.stdin.readable).text();
  const text = await findTextFile(resolve(path));
  if (text === undefined) throw configError(`File not found: ${path}`, "Check the path");
  return text;
}

/** Written while it is read, so that a long file takes no memory. */
async function writeFile(
  { rights }: Operation,
  { contentType, body }: FileOutput,
  { flags }: CommandInput,
): ReturnType<Command["run"]> {
  const path = flags.get("output");
  if (typeof path !== "string" || path === "-") {
    const text = new Response(body).body!.pipeThrough(new TextDecoderStream());
    const isLines = contentType.startsWith("application/x-ndjson");
    for await (const piece of flags.get("json") && isLines ? arrayOf(text) : text) print(piece);
    return;
  }
  await writeNew(resolve(path), body, {
    force: flags.get("force") === true,
    // What only some may read is for the file's owner only.
    isPrivate: rights.includes("manage"),
  });
  return { data: { file: path }, text: `Wrote ${path}\n` };
}

export async function* arrayOf(text: AsyncIterable<string>): AsyncGenerator<string, void> {
  let [before, rest] = ["[", ""];
  for await (const piece of text) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      yield `${before}\n${visibleJson(JSON.parse(line))}`;
      before = ",";
    }
  }
  yield before === "[" ? "[]\n" : "\n]\n";
}

/** Whether a question is to be asked: not with --yes. Throws if there is nobody to ask. */
export function mustAsk(name: string, { flags }: CommandInput): boolean {
  if (flags.get("yes") === true) return false;
  if (flags.get("json") !== true && isInteractive()) return true;
  throw configError(`${name} requires confirmation`, "Pass --yes to run it without a terminal");
}

/** Asks, after the details if there are any; throws unless the answer is yes. */
export function agree(name: string, question: string, input: CommandInput, details = ""): void {
  if (!mustAsk(name, input)) return;
  print(details);
  if (ask(question)) return;
  throw new GatewayError("ACCESS_DENIED", {
    message: `${name} was not confirmed; nothing changed`,
  });
}

function outcomeText(
  { text, next }: Operation,
  { show }: CommandExtras,
  output: Record<string, unknown>,
  view: Omit<OutcomeView, "paint" | "flags">,
  { env, flags }: CommandInput,
): string {
  const paint = painter(env);
  const { input } = view;
  if (show) return show(output, { ...view, paint, flags });
  const outcome = text?.(output, input) ?? JSON.stringify(output, undefined, 2);
  const { warnings } = output;
  const steps = stepLines(next?.(output, input) ?? []).map((line) => `${line}\n`);
  return `${inert(outcome)}\n` +
    warningsText(Array.isArray(warnings) ? warnings.map(String) : [], paint) + steps.join("");
}

export function stepLines(steps: NextStep[]): string[] {
  return steps.flatMap((step) => {
    const command = stepCommand(step, OPERATIONS);
    return command === undefined ? [] : [`${step.label} with \`${command}\`.`];
  });
}

function withCommands(error: GatewayError): GatewayError {
  const { next = [], suggestedTools: _, ...details } = error.details;
  const steps = stepLines(next);
  return new GatewayError(error.code, {
    ...details,
    message: error.message,
    ...(steps.length === 0 ? {} : { recoverySteps: steps }),
    cause: error,
  });
}

/** Writes a file in one step, so that nobody ever reads half of it; over another one only by force. */
async function writeNew(
  path: string,
  content: FileOutput["body"],
  { force, isPrivate }: { force: boolean; isPrivate: boolean },
): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const mode = isPrivate ? { mode: 0o600 } : {};
    await Deno.writeFile(draft, bytes, { createNew: true, ...mode });
    if (!force && await Deno.lstat(path).then(() => true, () => false)) {
      throw configError(`${path} already exists`, "Overwrite it with --force");
    }
    await Deno.rename(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    if (error instanceof Deno.errors.NotFound) {
      const problem = `Cannot write ${basename(path)}: folder not found: ${dirname(path)}`;
      throw configError(problem, "Create the folder, or choose another file", error);
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      const advice = "Give your user write permission";
      throw configError(`Cannot write ${path}: permission denied`, advice, error);
    }
    throw error;
  }
}
