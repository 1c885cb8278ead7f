import { systemEnv } from "../config/env.ts";
import { readOptions } from "../config/options.ts";
import { CanonicalToolsRepository } from "../storage/canonical_tools_repository.ts";
import type { Store } from "../storage/store.ts";
import type { Command, CommandInput } from "./command.ts";
import { completionOf, type NameKind, type Suggestion } from "./completion.ts";
import { findGateways } from "./find_gateways.ts";
import { serverNames, toolsetNames } from "./known_names.ts";
import { openStore } from "./servers_access.ts";
import { inert, print } from "./terminal.ts";

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
  return await toolNames(store, input);
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
