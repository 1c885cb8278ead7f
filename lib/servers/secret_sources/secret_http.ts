import * as z from "zod";
import type { Env } from "../../config/platform.ts";
import { nonEmpty } from "../../config/platform.ts";
import { parseJson } from "../../core/rpc.ts";
import { SecretUnavailable } from "./source.ts";

const REQUEST_MS = 10_000;

interface SecretService {
  /** The secret that is wanted, for errors. */
  name: string;
  /** The variable that has the service's URL. */
  variable: string;
  base: URL;
  headers: Record<string, string>;
}

/** The URL that a variable has. Throws SecretUnavailable without one. */
export function serviceUrl(name: string, env: Env, variable: string): URL {
  const text = nonEmpty(env, variable);
  const url = URL.parse(text ?? "");
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  const problem = text === undefined ? "is not set" : "is not a valid http or https URL";
  throw new SecretUnavailable(
    name,
    `${variable} ${problem}: set it in the gateway's environment and restart the gateway`,
  );
}

/** A variable that must be set. Throws SecretUnavailable if it is not. */
export function requiredVariable(name: string, env: Env, variable: string): string {
  const value = nonEmpty(env, variable);
  if (value !== undefined) return value;
  throw new SecretUnavailable(
    name,
    `${variable} is not set: set it in the gateway's environment and restart the gateway`,
  );
}

/**
 * What a service answers to a GET; undefined if it has nothing there. No answer's text becomes part
 * of an error: it may hold the secret.
 */
export async function getJson<T>(
  { name, variable, base, headers }: SecretService,
  path: string,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  const url = new URL(base);
  const [pathname = "", query = ""] = path.split("?");
  url.pathname = `${base.pathname.replace(/\/+$/, "")}${pathname}`;
  url.search = query;
  const where = `${variable} (${url.host})`;
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      headers,
      // A token must not follow to another host.
      redirect: "manual",
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    text = await response.text();
  } catch (error) {
    throw new SecretUnavailable(
      name,
      `${where} cannot be reached: check the address and the network`,
      { cause: error },
    );
  }
  if (response.status === 404) return undefined;
  if (response.status === 401 || response.status === 403) {
    throw new SecretUnavailable(
      name,
      `${where} answered ${response.status}: the token is not valid, has expired, or may not read it`,
    );
  }
  if (!response.ok) {
    throw new SecretUnavailable(name, `${where} answered ${response.status}: check the address`);
  }
  const { data } = schema.safeParse(parseJson(text));
  if (data === undefined) {
    throw new SecretUnavailable(name, `${where} gave an unexpected answer: check the address`);
  }
  return data;
}
