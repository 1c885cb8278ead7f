import { HttpError, page, type PageResponse } from "fresh";
import { GatewayError } from "../core/errors.ts";
import { localPath } from "./ui/pages.ts";
import { type FormError, formErrorOf } from "./ui/api.ts";

export type { FormError };

export interface ErrorPage extends FormError {
  status: number;
  title: string;
}

/** Foreign errors keep their text to the log: only the id leads there. */
export function errorPage(error: unknown): ErrorPage {
  const known = error instanceof HttpError && error.status < 500
    ? new GatewayError("NOT_FOUND")
    : GatewayError.from(error);
  const { recoverySteps, ...body } = known.toBody();
  return {
    ...formErrorOf({ ...body, recoverySteps }),
    status: error instanceof HttpError ? error.status : known.httpStatus,
    title: titleOf(known),
    message: sentence(body.message),
    steps: recoverySteps.map(sentence),
  };
}

function titleOf({ code, httpStatus }: GatewayError): string {
  if (httpStatus >= 500) return "This page could not be loaded";
  if (code === "ACCESS_DENIED") return "Not allowed";
  return httpStatus === 404 ? "Not found" : "Something went wrong";
}

/** The page that a refused request came from, or the dashboard. */
export function wayBack({ method, headers, url }: Request): string {
  const from = URL.parse(headers.get("referer") ?? "");
  const at = new URL(url);
  if (from?.origin !== at.origin || from.pathname === "/login") return "/";
  // A page that is refused does not lead to itself; a form leads to the page it is on.
  const isItself = method === "GET" && from.pathname === at.pathname;
  return isItself ? "/" : localPath(from.pathname + from.search);
}

/** The table's sentences have no full stop, so that they can stand inside others. */
function sentence(text: string): string {
  return /[.?!…]$/.test(text) ? text : `${text}.`;
}

export function formError(error: unknown): FormError {
  if (!(error instanceof GatewayError)) throw error;
  return formErrorOf(error.toBody());
}

/** The gateway or its store has failed: that is told on the error page. */
const BROKEN = /^(INTERNAL|STORAGE_(UNAVAILABLE|FULL|CORRUPT))$/;

/** Redirects to the path that a form's change gives. A refused form is shown again, with the reason. */
export async function submitForm<T>(
  ctx: { redirect(path: string, status: number): Response },
  change: () => Promise<string>,
  showAgain: (error: GatewayError) => Promise<T>,
): Promise<Response | PageResponse<T>> {
  try {
    return ctx.redirect(await change(), 303);
  } catch (error) {
    if (!(error instanceof GatewayError) || BROKEN.test(error.code)) throw error;
    return page(await showAgain(error), { status: error.httpStatus });
  }
}
