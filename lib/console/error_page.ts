import { HttpError } from "fresh";
import { GatewayError } from "../core/errors.ts";
import { localPath } from "./local_path.ts";

/** What a reader gets to see of an error. */
export interface ErrorPage {
  status: number;
  code: string;
  title: string;
  message: string;
  steps: string[];
  hint?: string;
}

/** Foreign errors keep their text to the log: only the id leads there. */
export function errorPage(error: unknown): ErrorPage {
  const known = error instanceof HttpError && error.status < 500
    ? new GatewayError("NOT_FOUND")
    : GatewayError.from(error);
  const body = known.toBody();
  return {
    status: error instanceof HttpError ? error.status : known.httpStatus,
    code: body.errorType,
    title: titleOf(known),
    message: sentence(body.message),
    steps: body.recoverySteps.map(sentence),
    ...(body.hint === undefined ? {} : { hint: body.hint }),
  };
}

function titleOf({ code, httpStatus }: GatewayError): string {
  if (httpStatus >= 500) return "This page could not be shown";
  if (code === "ACCESS_DENIED") return "You may not do this";
  return httpStatus === 404 ? "There is nothing here" : "This did not work";
}

/** Where whoever was refused came from; the dashboard where that is not known. */
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
