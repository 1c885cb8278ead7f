import { GatewayError } from "../core/errors.ts";
import type { FormError } from "./ui/form_error.ts";

export type { FormError };

/** An error as a form shows it; anything that is not the gateway's own is thrown on. */
export function formError(error: unknown): FormError {
  if (!(error instanceof GatewayError)) throw error;
  const { message, errorType, recoveryAction, recoverySteps, hint } = error.toBody();
  return {
    message,
    code: errorType,
    steps: recoverySteps.length > 0 ? recoverySteps : [recoveryAction],
    ...(hint === undefined ? {} : { hint }),
  };
}
