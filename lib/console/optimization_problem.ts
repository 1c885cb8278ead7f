import { page, type PageResponse } from "fresh";
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

/** Leads on to what came of a form; what was refused is told on the page it was filled in on. */
export async function leadOn<T>(
  ctx: { redirect(path: string, status: number): Response },
  work: Promise<string>,
  showAgain: (error: GatewayError) => Promise<T>,
): Promise<Response | PageResponse<T>> {
  try {
    return ctx.redirect(await work, 303);
  } catch (error) {
    if (!isTold(error)) throw error;
    return page(await showAgain(error), { status: error.httpStatus });
  }
}

/** Whether it is told on the page it was asked on; also that no model can be reached. */
function isTold(error: unknown): error is GatewayError {
  return error instanceof GatewayError &&
    (error.httpStatus < 500 || error.code === "CANNOT_GENERATE" ||
      error.code === "CANNOT_EVALUATE");
}
