import { systemEnv } from "../config/platform.ts";
import { readOptions } from "../config/options.ts";
import {
  CandidatesRepository,
  GoldenPromptsRepository,
} from "../storage/optimization_repositories.ts";
import type { Command, CommandInput } from "./command.ts";
import { CLIENT_OPERATIONS } from "../operations/clients.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import type { OutputOf } from "../operations/operation.ts";
import { CONSENT_OPERATIONS, type ShownConsent } from "../operations/consents.ts";
import type { NameKind } from "../operations/fields.ts";
import { JOB_OPERATIONS } from "../operations/jobs.ts";
import { completionOf, type Suggestion } from "./completion.ts";
import { listTools, openStore, openTarget, serverNames, toolsetNames } from "./operation_target.ts";
import { inert, print } from "./terminal.ts";

const MOST_JOBS = 50;
/** What a shell can put on a command line without quotes: names come from servers. */
const PLAIN = /^[\w.@:/+-]+$/;

/** Prints what may stand in place of the last word, each with its meaning after a tab. */
export async function complete(
  words: readonly string[],
  commands: Record<string, Command>,
): Promise<void> {
  const current = words.at(-1) ?? "";
  const completion = completionOf(words, commands);
  if (completion.kind === "other") return;
  const suggestions = completion.kind === "words"
    ? completion.words
    // A shell that waits for names has no use for the reason why there are none.
    : await findNames(completion.of, words).catch(() => []);
  const lines = suggestions
    .filter(({ word }) => word.startsWith(current) && PLAIN.test(word))
    .map(({ word, meaning = "" }) => `${word}\t${inert(meaning).replaceAll(/\s+/g, " ")}\n`);
  print(lines.join(""));
}

async function findNames(kind: NameKind, words: readonly string[]): Promise<Suggestion[]> {
  const env = systemEnv();
  const read = await readOptions(whereFlags(words), env, { os: Deno.build.os, cwd: Deno.cwd() });
  const input: CommandInput = { ...read, env, values: new Map(), afterDashes: [] };
  if (kind === "candidate" || kind === "prompt") return await recordNames(kind, input);
  await using target = await openTarget(input);
  switch (kind) {
    case "server":
      return (await serverNames(target)).map((word) => ({ word }));
    case "toolset":
      return (await toolsetNames(target)).map((word) => ({ word }));
    case "tool":
      return (await listTools(target)).tools.map(({ server, name, definition }) => ({
        word: `${server}.${name}`,
        meaning: definition.title ?? definition.description?.split("\n")[0] ?? "",
      }));
    case "client": {
      const { clients }: OutputOf<typeof CLIENT_OPERATIONS.list> = await target.run(
        CLIENT_OPERATIONS.list,
        {},
      );
      return clients.filter(({ endedAt }) => endedAt === undefined)
        .map(({ id, name }) => ({ word: id, meaning: name }));
    }
    case "consent": {
      const { consents } = await target.run(CONSENT_OPERATIONS.list, {});
      return consents.map(({ id, server }: ShownConsent) => ({ word: id, meaning: server }));
    }
    case "job": {
      const { jobs } = await target.run(JOB_OPERATIONS.list, { limit: MOST_JOBS });
      return jobs.map(({ id, status }: OptimizationJob) => ({ word: id, meaning: status }));
    }
    default:
      return [];
  }
}

/** Ids that no operation lists for all tools. */
async function recordNames(
  kind: "candidate" | "prompt",
  input: CommandInput,
): Promise<Suggestion[]> {
  await using store = await openStore(input);
  if (kind === "prompt") {
    const all = await new GoldenPromptsRepository(store).byServer();
    return [...all.values()].flat().map(({ id, prompt }) => ({ word: id, meaning: prompt }));
  }
  const all = await new CandidatesRepository(store).byServer();
  return [...all.values()].flat().map(({ id, toolName }) => ({ word: id, meaning: toolName }));
}

/** The flags that say which data store is meant, with their values. */
function whereFlags(words: readonly string[]): string[] {
  return words.slice(0, -1).flatMap((word, index, all) => {
    const [isOne, inline] = /^--(?:data-dir|kv|config)(=.*)?$/.exec(word) ?? [];
    if (isOne === undefined) return [];
    return inline === undefined ? all.slice(index, index + 2) : [word];
  });
}
