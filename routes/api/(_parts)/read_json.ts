import type { z } from "zod";
import { GatewayError } from "../../../lib/core/errors.ts";
import { readBody } from "../../../lib/http/request_body.ts";

/** A request's body in the shape that is wanted, or INVALID_ARGUMENTS. */
export async function readJson<T>(
  request: Request,
  schema: z.ZodType<T>,
  maxBytes: number,
): Promise<T> {
  const text = new TextDecoder().decode(await readBody(request, maxBytes));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new GatewayError("INVALID_ARGUMENTS", { message: "The body is not valid JSON" });
  }
  return fit(schema, value);
}

export function fit<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const message = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`
  ).join("; ");
  throw new GatewayError("INVALID_ARGUMENTS", { message });
}
