import { GatewayError } from "../core/errors.ts";
import { errorPage } from "./error_page.ts";

/** Why something was not done, for the page it was asked on. */
export interface Problem {
  message: string;
  steps: string[];
  code: string;
}

export function problemOf(error: unknown): Problem {
  const { message, steps, code } = errorPage(error);
  return { message, steps, code };
}

/** Whether it is told on the page it was asked on; also that no model can be reached. */
export function isTold(error: unknown): error is GatewayError {
  return error instanceof GatewayError &&
    (error.httpStatus < 500 || error.code === "CANNOT_GENERATE" ||
      error.code === "CANNOT_EVALUATE");
}
