import { join } from "@std/path";
import * as z from "zod";
import { OPERATIONS } from "../../lib/operations/all.ts";
import { fieldsOf } from "../../lib/operations/fields.ts";
import { answerOf } from "../fixtures/leaky_server.ts";

/** The paths of all files below a folder. */
async function* walkFiles(folder: string, below = ""): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(join(folder, below))) {
    const path = join(below, name);
    if (isDirectory) yield* walkFiles(folder, path);
    else yield path;
  }
}

/** Secrets that can be told from everything else, and where each one was given. */
export class Canaries {
  readonly #texts = new Map<string, string>();

  /** A secret that is given in this place. */
  make(place: string): string {
    const bytes = crypto.getRandomValues(new Uint8Array(12));
    return this.add(place, `cnry${bytes.toHex()}`);
  }

  add(place: string, text: string): string {
    this.#texts.set(place, text);
    return text;
  }

  get size(): number {
    return this.#texts.size;
  }

  get places(): string[] {
    return [...this.#texts.keys()];
  }

  textOf(place: string): string {
    const text = this.#texts.get(place);
    if (text === undefined) throw new Error(`There is no canary ${place}`);
    return text;
  }

  /** The places whose secret a text holds, in whatever spelling. */
  in(text: string): string[] {
    return [...this.#texts].filter(([, canary]) =>
      text.includes(canary) || text.includes(btoa(canary).slice(0, 16))
    ).map(([place]) => place);
  }
}

/** Servers over HTTP that tell what came in their headers and address, each at a path of its own. */
export function serveLeaky(): {
  url: string;
  seen(): string;
  [Symbol.asyncDispose](): Promise<void>;
} {
  let seen = "";
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const url = new URL(request.url);
    const known = JSON.stringify([decodeURIComponent(url.search), [...request.headers]]);
    seen += known;
    if (url.pathname.endsWith("/login")) {
      const challenge = `Bearer realm=${JSON.stringify(known.replaceAll('"', ""))}`;
      return new Response(known, { status: 401, headers: { "www-authenticate": challenge } });
    }
    if (url.pathname.endsWith("/broken")) return new Response(known, { status: 500 });
    if (url.pathname.endsWith("/page")) {
      return new Response(known, { headers: { "content-type": "text/html" } });
    }
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const answer = answerOf(await request.text(), { known, write() {}, crash() {} });
    return answer === undefined ? new Response(null, { status: 202 }) : Response.json(answer);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    seen: () => seen,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Everything in a folder, as the bytes of each file, without those that hold secrets by design. */
export async function* bytesIn(
  folder: string,
  without: ReadonlySet<string>,
): AsyncGenerator<[place: string, text: string]> {
  for await (const path of walkFiles(folder)) {
    if (without.has(path)) continue;
    yield [path, new TextDecoder("latin1").decode(await Deno.readFile(join(folder, path)))];
  }
}

/** Every page that a person can come to by links from the first, and those of some calls. */
export async function* crawl(base: string, most: number): AsyncGenerator<[string, string]> {
  const calls = (await callIds(base)).slice(0, 16);
  const seen = new Set(["/", ...calls.map((id) => `/activity/${id}`)]);
  for (const path of seen) {
    const response = await fetch(base + path, {
      redirect: "manual",
      headers: { accept: "text/html" },
    });
    const text = await response.text();
    yield [`${response.status} ${path}`, text];
    if (!(response.headers.get("content-type") ?? "").includes("html")) continue;
    for (const [, href = ""] of text.matchAll(/\shref="(\/[^"#]*)/g)) {
      const next = href.replaceAll("&amp;", "&");
      if (seen.size < most && !/^\/(_fr|css|logout)|\.(svg|js|css)\b/.test(next)) seen.add(next);
    }
  }
}

const Calls = z.looseObject({ calls: z.array(z.looseObject({ id: z.string() })) });

async function callIds(base: string): Promise<string[]> {
  const response = await fetch(`${base}/api/activity?limit=100`);
  return Calls.parse(await response.json()).calls.map(({ id }) => id);
}

/** The answer to every GET of the API, found by files and operations, so that none is forgotten. */
export async function* readApi(base: string, servers: readonly string[]) {
  const calls = await callIds(base);
  for (const address of readingOperations(servers, calls)) {
    const answer = await fetch(base + address);
    yield [`${answer.status} ${address}`, await answer.text()] as const;
  }
  const folder = new URL("../../routes/api", import.meta.url).pathname;
  for await (const path of walkFiles(folder)) {
    if (path.includes("(_parts)") || path.includes("_middleware")) continue;
    if (!/\bGET(\(|:)/.test(await Deno.readTextFile(join(folder, path)))) continue;
    const route = `/api/${path.replace(/(\/?index)?\.ts$/, "")}`;
    const names = route.includes("[name]") && !route.includes("servers") ? ["x"] : servers;
    const filled = route.includes("[")
      ? names.map((name) =>
        route.replace("[name]", name).replace("[server]", name).replace("[tool]", "tell")
      )
      : [route];
    for (const address of filled) {
      const answer = await fetch(base + address);
      yield [`${answer.status} ${address}`, await answer.text()] as const;
    }
  }
}

/** The address of every operation that only reads, for each thing that it can be asked about. */
function* readingOperations(servers: readonly string[], calls: readonly string[]) {
  for (const { name, effect, input } of OPERATIONS.values()) {
    if (effect !== "read") continue;
    const values = { server: servers, name: servers, tool: servers.map((name) => `${name}.tell`) };
    const known: Record<string, readonly string[]> = { ...values, id: calls };
    const required = fieldsOf(input).filter(({ isRequired }) => isRequired);
    const most = Math.max(1, ...required.map((field) => known[field.name]?.length ?? 1));
    for (let nth = 0; nth < most; nth++) {
      const query = required.map((field) => [field.name, known[field.name]?.[nth] ?? "x"]);
      yield `/api/${name}?${new URLSearchParams(query)}`;
    }
  }
}
