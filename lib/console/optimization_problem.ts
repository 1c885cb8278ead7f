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
