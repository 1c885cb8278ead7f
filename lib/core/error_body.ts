import * as z from "zod";
import { defined } from "./defined.ts";
import { ERROR_CODES, GatewayError } from "./errors.ts";

/** As `GatewayError.toBody()` writes it; a gateway of another version may write less or more. */
const SentError = z.object({
  errorType: z.enum(ERROR_CODES),
  message: z.string(),
  recoveryAction: z.string().optional(),
  recoverySteps: z.array(z.string()).optional(),
  hint: z.string().optional(),
  next: z.array(z.object({
    label: z.string(),
    operation: z.string(),
    input: z.record(z.string(), z.unknown()).exactOptional(),
  })).optional(),
  suggestedTools: z.array(z.string()).optional(),
  retryAfterSeconds: z.number().optional(),
});

/** An error as a gateway sends it; undefined if the value is not one. */
export function parseError(value: unknown, cause?: unknown): GatewayError | undefined {
  const { success, data } = SentError.safeParse(value);
  if (!success) return undefined;
  const { errorType, ...details } = data;
  return new GatewayError(errorType, defined({ ...details, cause }));
}
