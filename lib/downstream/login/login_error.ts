import { GatewayError } from "../../core/errors.ts";
import { excerpt } from "../remote/messages.ts";

/** A login that cannot be made or went wrong. */
export function loginError(message: string, steps: string[] = []): GatewayError {
  return new GatewayError("LOGIN_FAILED", {
    message,
    ...(steps.length === 0 ? {} : { recoverySteps: steps }),
  });
}

/** A foreign text inside a sentence of ours: short, on one line, in quotes. */
export function quoted(text: string): string {
  return JSON.stringify(excerpt(text));
}
