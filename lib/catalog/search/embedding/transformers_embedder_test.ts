import assert from "node:assert/strict";
import { join } from "@std/path";
import { createEmbedder } from "./embedder.ts";
import { TransformersEmbedder } from "./transformers_embedder.ts";

/** A model of two dimensions that knows three words: one Gather over a table. */
const MODEL =
  "CAg6rQEKKQoBdAoJaW5wdXRfaWRzEhFsYXN0X2hpZGRlbl9zdGF0ZSIGR2F0aGVyEgFnKjMIBQgCEAFCAXRKKAAAAAAAAAAAAAAAAAAAAAAAAIA/AAAAAGZmZj/NzMw9AAAAAAAAgD9aHQoJaW5wdXRfaWRzEhAKDggHEgoKAxIBYgoDEgFzYikKEWxhc3RfaGlkZGVuX3N0YXRlEhQKEggBEg4KAxIBYgoDEgFzCgIIAkIECgAQDQ==";
const VOCABULARY = ["[PAD]", "[UNK]", "rain", "weather", "branch"];

async function modelFolder() {
  const folder = await Deno.makeTempDir();
  await Deno.mkdir(join(folder, "onnx"));
  await Deno.writeFile(join(folder, "onnx", "model.onnx"), Uint8Array.fromBase64(MODEL));
  const files = {
    "config.json": { model_type: "bert", vocab_size: VOCABULARY.length },
    "tokenizer_config.json": { tokenizer_class: "BertTokenizer", pad_token: "[PAD]" },
    "tokenizer.json": {
      model: {
        type: "WordPiece",
        unk_token: "[UNK]",
        continuing_subword_prefix: "##",
        max_input_chars_per_word: 100,
        vocab: Object.fromEntries(VOCABULARY.map((word, id) => [word, id])),
      },
      normalizer: null,
      pre_tokenizer: { type: "Whitespace" },
      post_processor: null,
      decoder: { type: "WordPiece", prefix: "##", cleanup: true },
      added_tokens: [],
    },
  };
  for (const [name, value] of Object.entries(files)) {
    await Deno.writeTextFile(join(folder, name), JSON.stringify(value));
  }
  return {
    folder,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** Stands in for the library, which has 500 MB; the process and all around it are real. */
function library(extract: string): string {
  const code = `export const env = {};
    export const pipeline = (task, model, options) => {
      console.log("loading");
      return (texts, { pooling }) => { ${extract} };
    };`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

const signal = () => AbortSignal.timeout(120_000);

Deno.test("TransformersEmbedder.embed() computes in a process that gets no secret", async () => {
  await using model = await modelFolder();
  using stack = new DisposableStack();
  stack.defer(() => Deno.env.delete("QUARTERMASTER_TEST_SECRET"));
  Deno.env.set("QUARTERMASTER_TEST_SECRET", "s");
  await using embedder = new TransformersEmbedder({
    model: model.folder,
    library: library(`
      const secret = Deno.env.get("QUARTERMASTER_TEST_SECRET") === undefined ? 0 : 1;
      const data = Float32Array.from(texts.flatMap((text) => [text.length, secret]));
      return { dims: [texts.length, 2], data, model, pooling };`),
  });
  const [first, second] = await Promise.all([
    embedder.embed(["a", "bcd"], signal()),
    embedder.embed(["ef"], signal()),
  ]);
  assert.deepEqual(first, [Float32Array.of(1, 0), Float32Array.of(3, 0)]);
  assert.deepEqual(second, [Float32Array.of(2, 0)]);
});

Deno.test("TransformersEmbedder.embed() says what is missing, and tries again", async () => {
  await using model = await modelFolder();
  const library404 = "data:text/javascript,throw new Error()";
  await using unknown = new TransformersEmbedder({ model: model.folder, library: library404 });
  for (let tries = 0; tries < 2; tries++) {
    await assert.rejects(
      unknown.embed(["a"], signal()),
      /Cannot embed with transformers: data:.* cannot be loaded: the first search fetches it from npm/,
    );
  }
  await using empty = new TransformersEmbedder({ model: "no-such-folder", library: library("") });
  await assert.rejects(
    empty.embed(["a"], signal()),
    /no onnx\/model.onnx in the folder .*no-such-folder; to download .* set --embeddings-url/,
  );
  await using broken = new TransformersEmbedder({
    model: model.folder,
    library: library(`throw new Error("bad input")`),
  });
  await assert.rejects(broken.embed(["a"], signal()), /bad input/);
});

Deno.test("TransformersEmbedder.embed() reports output that cannot be read, and tries again", async () => {
  await using model = await modelFolder();
  for (
    const [extract, problem] of [
      // Three bytes are not a float.
      ["return { dims: [1, 1], data: new Uint8Array(3) }", /its output cannot be read/],
      [
        `Deno.stdout.writeSync(new TextEncoder().encode("x".repeat(5_000_000)))`,
        /a line is longer than/,
      ],
    ] as const
  ) {
    await using embedder = new TransformersEmbedder({
      model: model.folder,
      library: library(`${extract}; return new Promise(() => setInterval(() => {}, 1000));`),
    });
    for (let tries = 0; tries < 2; tries++) {
      await assert.rejects(embedder.embed(["a"], signal()), problem);
    }
  }
});

Deno.test("TransformersEmbedder.embed() asks the hub for the pooling with its token, once", async () => {
  const cache = await Deno.makeTempDir();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(cache, { recursive: true }));
  let status = 503;
  const asked: string[] = [];
  const answer = (request: Request) => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    const isKnown = request.headers.get("authorization") === "Bearer hf_t";
    return Response.json({ pooling_mode_cls_token: true }, { status: isKnown ? status : 401 });
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
  stack.use(server);
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const isCls = async (model: string, token?: string) => {
    await using embedder = new TransformersEmbedder({
      model,
      hub: { url, cache, token },
      library: library(
        `return { dims: [1, 1], data: Float32Array.of(pooling === "cls" ? 1 : 0) }`,
      ),
    });
    const [vector] = await embedder.embed(["a"], signal());
    return vector![0] === 1;
  };
  await assert.rejects(isCls("org/own", "hf_t"), /the hub answered 503/);
  status = 200;
  await assert.rejects(isCls("org/own"), /the hub answered 401/);
  assert.equal(await isCls("org/own", "hf_t"), true);
  status = 404;
  assert.equal(await isCls("org/plain", "hf_t"), false);
  assert.equal(asked.length, 4);
  assert.equal(asked[0], "/org/own/resolve/main/1_Pooling/config.json");
  await server.shutdown();
  assert.deepEqual([await isCls("org/own"), await isCls("org/plain")], [true, false]);
});

Deno.test("TransformersEmbedder.embed() gives up when told", async () => {
  await using model = await modelFolder();
  await using embedder = new TransformersEmbedder({
    model: model.folder,
    library: library("return new Promise(() => setInterval(() => {}, 1000))"),
  });
  const controller = new AbortController();
  const asked = embedder.embed(["a"], controller.signal);
  controller.abort(new Error("enough"));
  await assert.rejects(asked, /enough/);
});

Deno.test("createEmbedder() takes a transformers model from a folder unless a hub is named", async () => {
  await assert.rejects(createEmbedder({ embeddings: "transformers" }), /its model is not set/);
  await using local = await createEmbedder({ embeddings: "transformers", embeddingsModel: "/m" });
  assert.equal(local!.id, "transformers:/m");
});

Deno.test({
  name: "TransformersEmbedder.embed() runs a real model with the real library",
  // It fetches 150 MB from npm.
  ignore: Deno.env.get("QUARTERMASTER_TEST_FULL") !== "1",
  async fn() {
    await using model = await modelFolder();
    await using embedder = new TransformersEmbedder({ model: model.folder });
    const vectors = await embedder.embed(["rain", "weather", "branch"], signal());
    const [rain, weather, branch] = vectors.map((vector) => [...vector]);
    assert.deepEqual([rain, branch], [[1, 0], [0, 1]]);
    assert.ok(weather![0]! > 0.99);
  },
});
