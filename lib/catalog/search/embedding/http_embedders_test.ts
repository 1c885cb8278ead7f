import assert from "node:assert/strict";
import { GatewayError } from "../../../core/errors.ts";
import { createEmbedder } from "./embedder.ts";
import { ollamaEmbedder, openAiEmbedder } from "./http_embedders.ts";

interface Asked {
  path: string;
  authorization: string | null;
  body: Record<string, unknown>;
}

function aBackend(answer: (body: Record<string, unknown>) => Response) {
  const asked: Asked[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const body = await request.json();
    const authorization = request.headers.get("authorization");
    asked.push({ path: new URL(request.url).pathname, authorization, body });
    return answer(body);
  });
  return {
    asked,
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const never = new AbortController().signal;

Deno.test("ollamaEmbedder() embed() asks /api/embed for all texts at once", async () => {
  await using backend = aBackend(() => Response.json({ embeddings: [[1, 0], [0, 1]] }));
  const embedder = ollamaEmbedder({ url: `${backend.url}/`, model: "nomic-embed-text" });
  const vectors = await embedder.embed(["a", "b"], never);
  assert.deepEqual(vectors, [Float32Array.of(1, 0), Float32Array.of(0, 1)]);
  assert.equal(backend.asked[0]!.path, "/api/embed");
  assert.deepEqual(backend.asked[0]!.body.input, ["a", "b"]);
  assert.equal(embedder.id, "ollama:nomic-embed-text");
});

Deno.test("openAiEmbedder() embed() sends its key and puts the answers in order", async () => {
  await using backend = aBackend(() =>
    Response.json({ data: [{ index: 1, embedding: [0, 1] }, { index: 0, embedding: [1, 0] }] })
  );
  const settings = { url: `${backend.url}/v1`, model: "small" };
  const embedder = openAiEmbedder({ ...settings, apiKey: "k" });
  assert.deepEqual(await embedder.embed(["a", "b"], never), [
    Float32Array.of(1, 0),
    Float32Array.of(0, 1),
  ]);
  await openAiEmbedder(settings).embed(["a", "b"], never);
  assert.deepEqual(backend.asked.map(({ path }) => path), ["/v1/embeddings", "/v1/embeddings"]);
  assert.deepEqual(backend.asked.map(({ authorization }) => authorization), ["Bearer k", null]);
});

Deno.test("embedders say which backend failed and why", async () => {
  const answers = [
    () => new Response("no such model", { status: 404 }),
    () => new Response("<html>"),
    () => Response.json({ embeddings: [[1]] }),
    () => Response.json({ embeddings: [[1], [1, 2]] }),
  ];
  for (const answer of answers) {
    await using backend = aBackend(answer);
    const embedder = ollamaEmbedder({ url: backend.url, model: "m" });
    await assert.rejects(
      embedder.embed(["a", "b"], never),
      (error) => error instanceof GatewayError && /Ollama/.test(error.message),
    );
  }
  const closed = aBackend(() => new Response());
  await closed[Symbol.asyncDispose]();
  await assert.rejects(
    openAiEmbedder({ url: closed.url, model: "m" }).embed(["a"], never),
    /cannot be reached/,
  );
});

Deno.test("createEmbedder() makes what was configured, and nothing for none", async () => {
  assert.equal(await createEmbedder({ embeddings: "none" }), undefined);
  assert.equal((await createEmbedder({ embeddings: "ollama" }))!.id, "ollama:nomic-embed-text");
  assert.equal(
    (await createEmbedder({
      embeddings: "openai",
      embeddingsUrl: "http://127.0.0.1:1",
      embeddingsModel: "m",
    }))!.id,
    "openai:m",
  );
  await assert.rejects(createEmbedder({ embeddings: "openai" }), /URL or model/);
});
