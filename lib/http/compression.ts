import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { fromFileUrl, join } from "@std/path";
import { ROOT } from "../core/product.ts";

type Encoding = "br" | "gzip";

/** Assets that the build has compressed: size and available encodings, by path. */
interface CompressedAssets {
  /** Below `_fresh`. */
  folder: string;
  files: Record<string, { size: number; encodings: Encoding[] }>;
}

/** Smaller responses fit into one packet anyway. */
const LEAST_BYTES = 1_024;
/** Longer responses are sent uncompressed: they may be streams. */
const MOST_BYTES = 1024 * 1024;
const TEXT =
  /^(text\/(html|css|javascript|plain|xml)|application\/(json|manifest\+json|xml)|image\/svg\+xml)\s*(;|$)/i;
const ASSET = /\.(css|html|js|json|map|svg|txt|webmanifest|xml)$/;
const EXTENSIONS: Record<Encoding, string> = { br: ".br", gzip: ".gz" };

const fresh = () => join(fromFileUrl(ROOT), "_fresh");
const manifest = () => join(fresh(), "compressed.json");

/** Writes a compressed copy of each built asset next to it, at the best ratio; a step of the build. */
export async function compressAssets(): Promise<void> {
  const [build] = await namesIn(join(fresh(), "static"));
  if (build === undefined) return;
  const root = join(fresh(), "static", build);
  const files: CompressedAssets["files"] = {};
  for (const path of await assetsIn(root, "")) {
    const content = await Deno.readFile(join(root, path));
    const encodings: Encoding[] = [];
    for (const encoding of ["br", "gzip"] as const) {
      const smaller = await compress(content, encoding, "best");
      if (smaller.byteLength >= content.byteLength) continue;
      await Deno.writeFile(join(root, path + EXTENSIONS[encoding]), smaller);
      encodings.push(encoding);
    }
    if (encodings.length > 0) files[path] = { size: content.byteLength, encodings };
  }
  const assets: CompressedAssets = { folder: `static/${build}`, files };
  await Deno.writeTextFile(manifest(), JSON.stringify(assets));
}

async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
}

async function assetsIn(root: string, folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(root, folder))) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await assetsIn(root, path));
    else if (ASSET.test(name)) found.push(path);
  }
  return found;
}

/**
 * Compresses the console's responses for clients that accept it. MCP endpoints bypass this:
 * compressing their responses would cost more time than it saves.
 */
export class Compression {
  #assets: Promise<CompressedAssets | undefined> | undefined;
  /** By path and encoding; bounded by the build's assets. */
  readonly #contents = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

  async apply(request: Request, response: Response): Promise<Response> {
    if (!isCompressible(request, response)) return response;
    // Also set without an encoding: a cache must key this response by Accept-Encoding.
    response.headers.append("vary", "Accept-Encoding");
    const encoding = chooseEncoding(request.headers.get("accept-encoding") ?? "");
    if (encoding === undefined || response.status !== 200) return response;
    const asset = await this.#findAsset(request, response, encoding);
    if (asset) {
      await response.body?.cancel();
      return encoded(
        response,
        request.method === "HEAD" ? null : asset,
        asset.byteLength,
        encoding,
      );
    }
    if (request.method !== "GET" || !response.body || !isOwnPage(request)) return response;
    return await compressBody(response, response.body, encoding);
  }

  async #findAsset(
    request: Request,
    response: Response,
    encoding: Encoding,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (!response.headers.has("etag")) return undefined;
    const assets = await (this.#assets ??= readAssets());
    const { pathname } = new URL(request.url);
    if (!assets || !Object.hasOwn(assets.files, pathname)) return undefined;
    const { size, encodings } = assets.files[pathname]!;
    // A different size means a file from another build.
    if (!encodings.includes(encoding) || response.headers.get("content-length") !== `${size}`) {
      return undefined;
    }
    const path = join(fresh(), assets.folder, pathname + EXTENSIONS[encoding]);
    let content = this.#contents.get(path);
    if (!content) this.#contents.set(path, content = Deno.readFile(path));
    return await content.catch(() => {
      this.#contents.delete(path);
      return undefined;
    });
  }
}

/** Undefined if the build has compressed nothing. */
async function readAssets(): Promise<CompressedAssets | undefined> {
  try {
    return JSON.parse(await Deno.readTextFile(manifest()));
  } catch {
    return undefined;
  }
}

function isCompressible(request: Request, { headers, status }: Response): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  if (status === 304) return true;
  return TEXT.test(headers.get("content-type") ?? "") &&
    !headers.has("content-encoding") && !headers.has("content-range") &&
    // Downloads may have any length, and are streamed.
    !headers.has("content-disposition") &&
    !/\bno-transform\b/i.test(headers.get("cache-control") ?? "");
}

/**
 * Whether compressing this page is safe from BREACH, an attack in which another site makes the
 * browser request pages with chosen text and measures their length. Browsers report a request
 * caused by another site (Sec-Fetch-Site); a request without that report must carry no cookie.
 */
function isOwnPage({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  return site === null ? !headers.has("cookie") : site === "same-origin" || site === "none";
}

/** The best encoding that the client accepts; Brotli if it has no preference. */
export function chooseEncoding(accepted: string): Encoding | undefined {
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith("q="))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0);
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get("*") ?? 0;
  const [br, gzip] = [weightOf("br"), weightOf("gzip")];
  if (br === 0 && gzip === 0) return undefined;
  return br >= gzip ? "br" : "gzip";
}

async function compressBody(
  response: Response,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  encoding: Encoding,
): Promise<Response> {
  const reader = body.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  while (size <= MOST_BYTES) {
    const { done, value } = await reader.read();
    if (done) {
      const whole = new Uint8Array(await new Blob(chunks).arrayBuffer());
      if (size < LEAST_BYTES) return new Response(whole, response);
      const smaller = await compress(whole, encoding, "fast");
      return encoded(response, smaller, smaller.byteLength, encoding);
    }
    size += value.byteLength;
    chunks.push(value);
  }
  reader.releaseLock();
  return new Response(ReadableStream.from(joined(chunks, body)), response);
}

async function* joined(
  chunks: Uint8Array<ArrayBuffer>[],
  rest: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    yield* chunks;
    yield* rest;
  } finally {
    rest.cancel().catch(() => {});
  }
}

function encoded(
  response: Response,
  body: Uint8Array<ArrayBuffer> | null,
  length: number,
  encoding: Encoding,
): Response {
  const headers = new Headers(response.headers);
  headers.set("content-encoding", encoding);
  headers.set("content-length", String(length));
  const etag = headers.get("etag");
  // A strong ETag would promise the same bytes in every encoding.
  if (etag?.startsWith('"')) headers.set("etag", `W/${etag}`);
  return new Response(body, { status: response.status, headers });
}

async function compress(
  content: Uint8Array<ArrayBuffer>,
  encoding: Encoding,
  effort: "fast" | "best",
): Promise<Uint8Array<ArrayBuffer>> {
  const isFast = effort === "fast";
  const result = encoding === "gzip"
    ? await promisify(gzip)(content, { level: isFast ? 3 : 9 })
    : await promisify(brotliCompress)(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: isFast ? 3 : constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.byteLength,
      },
    });
  return new Uint8Array(result);
}
