/** Tools and the queries that should find them. */
import * as z from "zod";
import { parameterText, type SearchDocument } from "../lib/catalog/search/search_document.ts";

const Tool = z.looseObject({
  server: z.string(),
  name: z.string(),
  description: z.string().optional(),
  inputSchema: z.unknown().optional(),
  serverTitle: z.string().optional(),
  serverDescription: z.string().optional(),
});
const Data = z.looseObject({
  catalogue: z.array(Tool),
  queries: z.array(z.looseObject({ query: z.string(), relevant: z.array(z.string()) })),
});

export interface DataSet {
  name: string;
  documents: SearchDocument[];
  queries: { query: string; relevant: string[] }[];
}

const SHARED = new URL("../../shared/retrieval/", import.meta.url);
const OWN = new URL("./fixtures/search_set.json", import.meta.url);

/** The shared sets where they are, else the small one of this repository. */
export async function loadDataSets(): Promise<DataSet[]> {
  const names = ["livemcpbench", "metatool", "many", "sealtools"];
  const found = await Promise.all(names.map((name) => load(name, new URL(`${name}.json`, SHARED))));
  const shared = found.filter((set) => set !== undefined);
  if (shared.length > 0) return shared;
  const own = await load("own small set", OWN);
  return own ? [own] : [];
}

/** As many tools as wanted, made of real ones under other servers. */
export function manyDocuments(documents: SearchDocument[], count: number): SearchDocument[] {
  return Array.from({ length: count }, (_, index) => {
    const document = documents[index % documents.length]!;
    const copy = Math.floor(index / documents.length);
    if (copy === 0) return document;
    const server = `${document.server}${copy}`;
    return {
      ...document,
      server,
      key: `${server}.${document.name}`,
      description: `${document.description} copy${copy}`,
      fingerprint: `${document.fingerprint}${copy}`,
    };
  });
}

async function load(name: string, url: URL): Promise<DataSet | undefined> {
  let text: string;
  try {
    text = await Deno.readTextFile(url);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  const { catalogue, queries } = Data.parse(JSON.parse(text));
  return { name, queries, documents: catalogue.map(toDocument) };
}

function toDocument(tool: z.infer<typeof Tool>): SearchDocument {
  const { server, name, description = "", serverTitle, serverDescription } = tool;
  return {
    key: `${server}.${name}`,
    server,
    name,
    title: "",
    description,
    parameters: parameterText(tool.inputSchema),
    ...(serverTitle ? { serverTitle } : {}),
    ...(serverDescription ? { serverDescription } : {}),
    fingerprint: `${server}.${name}`,
  };
}
