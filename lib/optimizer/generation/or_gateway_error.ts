import { GatewayError } from "../../core/errors.ts";

/**
 * What comes of a step that may fail without the ones before it being lost: its value, or the
 * error. An aborted signal ends everything, and so does what is no GatewayError.
 */
export async function orGatewayError<T>(
  step: Promise<T>,
  signal: AbortSignal,
): Promise<T | { error: GatewayError }> {
  try {
    return await step;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GatewayError)) throw error;
    return { error };
  }
}
