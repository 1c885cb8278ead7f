/**
 * A program of its own: computes embeddings with Transformers.js. Its argument is a `ModelRequest`; it
 * reads `{ id, texts }` a line and writes `{ id, size, vectors }` or `{ problem }` a line.
 */
import { setPriority } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";

export interface ModelRequest {
  /** The specifier of the library; not a literal, so that no build or lock file includes it. */
  library: string;
  /** A folder, or a name at the hub. */
  model: string;
  /** The hub's URL without a final slash, and the folder for downloads; a folder is read if missing. */
  hub?: { url: string; cache: string } | undefined;
}

/** What is used of @huggingface/transformers. */
interface Transformers {
  env: Record<string, unknown>;
  pipeline(task: "feature-extraction", model: string, options: Variant): Promise<
    (texts: string[], options: { pooling: string; normalize: true }) => Promise<{
      dims: number[];
      data: Float32Array<ArrayBuffer>;
    }>
  >;
}

interface Variant {
  subfolder: string;
  dtype: "q8" | "fp32";
}

/** The quantized one is a quarter of the size and twice as fast. */
const VARIANTS: (Variant & { file: string })[] = ["onnx", ""].flatMap((subfolder) => [
  { subfolder, dtype: "q8", file: "model_quantized.onnx" },
  { subfolder, dtype: "fp32", file: "model.onnx" },
]);

const POOLING = "1_Pooling/config.json";
const FETCH_MS = 30_000;

async function open({ library, model, hub }: ModelRequest) {
  const { env, pipeline }: Transformers = await import(library).catch((error) => {
    throw new Error(
      `${library} cannot be loaded: the first search fetches it from npm`,
      { cause: error },
    );
  });
  env.allowRemoteModels = hub !== undefined;
  env.allowLocalModels = hub === undefined;
  if (hub) {
    env.remoteHost = `${hub.url}/`;
    env.cacheDir = hub.cache;
  } else {
    env.localModelPath = dirname(model);
  }
  const [variant] = hub
    ? VARIANTS
    : VARIANTS.filter(({ subfolder, file }) => exists(join(model, subfolder, file)));
  if (!variant) {
    throw new Error(
      `there is no onnx/model.onnx in the folder ${model}; to download a model by its name, ` +
        "set --embeddings-url https://huggingface.co",
    );
  }
  const { subfolder, dtype } = variant;
  const pooling = await poolingOf({ model, hub });
  const extract = await pipeline("feature-extraction", hub ? model : basename(model), {
    subfolder,
    dtype,
  });
  return (texts: string[]) => extract(texts, { pooling, normalize: true });
}

/** As the model's authors say it; most take the mean. */
async function poolingOf({ model, hub }: Pick<ModelRequest, "model" | "hub">): Promise<string> {
  const path = join(hub ? join(hub.cache, model) : model, POOLING);
  const kept = await Deno.readTextFile(path).catch(() => undefined);
  const text = kept ?? (hub ? await fetchPooling(model, hub.url) : "{}");
  const config: Record<string, unknown> = JSON.parse(text);
  if (hub && kept === undefined) await keep(path, text);
  if (config.pooling_mode_cls_token === true) return "cls";
  return config.pooling_mode_lasttoken === true ? "last_token" : "mean";
}

/** Wrong pooling makes bad embeddings without an error, so only a missing file means the default. */
async function fetchPooling(model: string, url: string): Promise<string> {
  const token = Deno.env.get("HF_TOKEN");
  const response = await fetch(`${url}/${model}/resolve/main/${POOLING}`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(FETCH_MS),
  });
  const text = await response.text();
  if (response.status === 404) return "{}";
  if (!response.ok) {
    throw new Error(`the hub answered ${response.status} to the request for ${model}/${POOLING}`);
  }
  return text;
}

/** The model then starts without the hub. If it cannot be written, it is fetched again. */
async function keep(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  try {
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(unfinished, text);
    await Deno.rename(unfinished, path);
  } catch { /* fetched again */ }
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

async function write(answer: object): Promise<void> {
  const bytes = new TextEncoder().encode(`${JSON.stringify(answer)}\n`);
  for (let sent = 0; sent < bytes.length;) sent += await Deno.stdout.write(bytes.subarray(sent));
}

try {
  // What a person waits for goes first.
  setPriority(10);
  const embed = await open(JSON.parse(Deno.args[0]!));
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, texts }: { id: number; texts: string[] } = JSON.parse(line);
    const { dims, data } = await embed(texts);
    const vectors = new Uint8Array(data.buffer, data.byteOffset, data.byteLength).toBase64();
    await write({ id, size: dims.at(-1), vectors });
  }
} catch (error) {
  await write({ problem: error instanceof Error ? error.message : String(error) });
  Deno.exit(1);
}
