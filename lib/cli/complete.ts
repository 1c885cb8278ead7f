import { systemEnv } from "../config/platform.ts";
import { readOptions } from "../config/options.ts";
import {
  CandidatesRepository,
  GoldenPromptsRepository,
} from "../storage/optimization_repositories.ts";
import { CanonicalToolsRepository } from "../storage/canonical_tools_repository.ts";
import { JobsRepository } from "../storage/jobs_repository.ts";
import type { Store } from "../storage/store.ts";
import type { Command, CommandInput } from "./command.ts";
import { CONSENT_OPERATIONS } from "../operations/consents.ts";
import type { NameKind } from "../operations/fields.ts";
import type { OutputOf } from "../operations/operation.ts";
import { completionOf, type Suggestion } from "./completion.ts";
import { findGateways, openStore, serverNames, toolsetNames } from "./operation_target.ts";
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
  await using store = await openStore(input);
  if (kind === "toolset") return (await toolsetNames(store)).map((word) => ({ word }));
  if (kind === "server") return (await serverNames(store, input)).map((word) => ({ word }));
  if (kind === "tool") return await toolNames(store, input);
  if (kind === "consent") return await consentIds(store);
  return await recordNames(kind, store);
}

/** Ids of what optimization has saved. */
async function recordNames(kind: NameKind, store: Store): Promise<Suggestion[]> {
  switch (kind) {
    case "job": {
      const jobs = new JobsRepository(store).list({ reverse: true, limit: MOST_JOBS });
      const words = await Array.fromAsync(jobs);
      return words.map(({ value: { id, status } }) => ({ word: id, meaning: status }));
    }
    case "candidate": {
      const all = await new CandidatesRepository(store).byServer();
      return [...all.values()].flat().map(({ id, toolName }) => ({ word: id, meaning: toolName }));
    }
    case "prompt": {
      const all = await new GoldenPromptsRepository(store).byServer();
      return [...all.values()].flat().map(({ id, prompt }) => ({ word: id, meaning: prompt }));
    }
    default:
      return [];
  }
}

/** Requests for consent, which only a running gateway can read. */
async function consentIds(store: Store): Promise<Suggestion[]> {
  const [gateway] = await findGateways(store);
  if (!gateway) return [];
  const { consents }: OutputOf<typeof CONSENT_OPERATIONS.list> = await gateway.client.run(
    CONSENT_OPERATIONS.list,
    {},
  );
  return consents.map(({ id, server }) => ({ word: id, meaning: server }));
}

async function toolNames(store: Store, input: CommandInput): Promise<Suggestion[]> {
  const [gateway] = await findGateways(store);
  if (gateway) {
    const { tools } = await gateway.client.allTools();
    return tools.map(({ server, name, definition }) => ({
      word: `${server}.${name}`,
      meaning: definition.title ?? definition.description?.split("\n")[0] ?? "",
    }));
  }
  const canonical = new CanonicalToolsRepository(store);
  const servers = await serverNames(store, input);
  const lists = await Promise.all(
    servers.map(async (server) =>
      (await canonical.list(server)).filter(({ goneSince }) => goneSince === undefined)
        .map(({ name }) => ({ word: `${server}.${name}` }))
    ),
  );
  return lists.flat();
}

/** The flags of the line that say where the data is. */
function whereFlags(words: readonly string[]): string[] {
  return words.slice(0, -1).flatMap((word, index, all) => {
    const [, inline] = /^--(?:data-dir|kv|config)(=.*)?$/.exec(word) ?? [];
    if (!/^--(data-dir|kv|config)(=|$)/.test(word)) return [];
    const value = all[index + 1];
    return inline !== undefined ? [word] : value === undefined ? [] : [word, value];
  });
}
