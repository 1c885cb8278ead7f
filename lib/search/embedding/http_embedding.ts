import { z } from "zod";
import { GatewayError } from "../../core/errors.ts";

const Vector = z.array(z.number()).min(1).max(16_384);
export const Vectors = z.array(Vector);

/** Posts JSON to a backend and reads its answer; what goes wrong says which backend and why. */
export async function postForVectors<T>(options: {
  backend: string;
  url: string;
  headers?: Record<string, string>;
  body: unknown;
  answer: z.ZodType<T>;
  signal: AbortSignal;
}): Promise<T> {
  const { backend, url, headers, body, answer, signal } = options;
  let text: string;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal,
    });
    text = await response.text();
    if (!response.ok) throw failure(backend, `it answered ${response.status}`);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    signal.throwIfAborted();
    throw failure(backend, "it cannot be reached", error);
  }
  const parsed = answer.safeParse(readJson(text));
  if (!parsed.success) throw failure(backend, "its answer holds no embeddings", parsed.error);
  return parsed.data;
}

/** One vector a text, all of one size, or the answer is not for these texts. */
export function toVectors(backend: string, vectors: number[][], texts: number): Float32Array[] {
  const size = vectors[0]?.length;
  if (vectors.length !== texts || vectors.some(({ length }) => length !== size)) {
    throw failure(backend, `it gave ${vectors.length} embeddings for ${texts} texts`);
  }
  return vectors.map((vector) => Float32Array.from(vector));
}

function failure(backend: string, what: string, cause?: unknown): GatewayError {
  return new GatewayError("NOT_AVAILABLE_HERE", {
    message: `Cannot embed with ${backend}: ${what}`,
    recoveryAction: "Check the address and the model of the embedding backend",
    cause,
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
