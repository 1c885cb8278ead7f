import { basename, fromFileUrl, join } from "@std/path";
import * as z from "zod";
import {
  OTHER_SERVERS,
  OTHER_TOOLS,
  type Part,
} from "../../tests/fixtures/attacks/attack_samples.ts";

/** A definition of a public server, in any of the forms in which they were collected. */
const Listed = z.looseObject({
  server: z.string().default(""),
  name: z.string().optional(),
  definition: z.record(z.string(), z.unknown()).optional(),
  where: z.string().optional(),
  text: z.string().optional(),
});
const Catalog = z.union([
  z.array(Listed),
  z.object({ catalogue: z.array(Listed) }).transform(({ catalogue }) => catalogue),
]);
type Listed = z.infer<typeof Listed>;

export interface OrdinarySample {
  id: string;
  server: string;
  part: Part;
}

const ROOT = fromFileUrl(new URL("../../", import.meta.url));
/** Our own, and what was collected beside the checkout, where it is there. */
const OWN = ["tests/fixtures/definitions/ordinary.jsonl", "tests/fixtures/attacks/ordinary.jsonl"];
const BESIDE = join(ROOT, "../shared/retrieval");

/** Paths of all sets of ordinary definitions, those in further folders too. */
export function ordinarySets(folders: readonly string[] = []): string[] {
  return [...OWN.map((path) => join(ROOT, path)), ...[BESIDE, ...folders].flatMap(setsIn)];
}

function setsIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => join(folder, name))
      .filter((path) => path.endsWith(".json")).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** The definitions of a set; each is judged among its own server's tools. */
export function ordinaryIn(path: string): OrdinarySample[] {
  const text = Deno.readTextFileSync(path);
  const listed = Catalog.parse(
    path.endsWith(".jsonl")
      ? text.trim().split("\n").map((line) => JSON.parse(line))
      : JSON.parse(text),
  );
  const own = Map.groupBy(listed, ({ server }) => server);
  const isWhole = !path.endsWith(".jsonl");
  const names = new Map(
    [...own].map(([server, tools]) => {
      const listed = new Set(tools.map(nameOf));
      return [server, isWhole ? listed : listed.union(namedIn(tools))] as const;
    }),
  );
  return listed.map((tool) => {
    const around = {
      server: tool.server,
      otherTools: OTHER_TOOLS,
      // A set's `GitHub - official` is the github server itself.
      otherServers: new Set(
        [...OTHER_SERVERS].filter((name) => !tool.server.toLowerCase().includes(name)),
      ),
      reserved: new Set<string>(),
      ownTools: names.get(tool.server)!,
    };
    return {
      id: `${basename(path)} ${tool.server} ${nameOf(tool)}`,
      server: tool.server,
      part: tool.text !== undefined
        ? { where: tool.where ?? "instructions", text: tool.text, around }
        : { definition: definitionOf(tool), around },
    };
  });
}

/** Ours are single tools of servers that have more: what else they name is their own. */
function namedIn(tools: readonly Listed[]): Set<string> {
  return new Set(JSON.stringify(tools).match(/[a-z]+(?:_[a-z]+)+/g)).difference(OTHER_TOOLS);
}

function nameOf({ name, definition }: Listed): string {
  return name ?? String(definition?.name ?? "");
}

function definitionOf({ definition, ...tool }: Listed): Record<string, unknown> {
  if (definition !== undefined) return definition;
  const { server: _server, serverTitle: _title, serverDescription: _description, ...rest } = tool;
  return rest;
}
