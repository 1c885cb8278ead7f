import { GatewayError } from "../core/errors.ts";

/** Why what was written in a form could not be done. */
export interface FormError {
  message: string;
  code: string;
  /** What to do about it. */
  steps: string[];
  hint?: string;
}

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
