import * as z from "zod";
import type { Gateway } from "../../../../../lib/gateway.ts";
import {
  type ErrorPage,
  errorPage,
  type FormError,
  formError,
} from "../../../../../lib/console/errors.ts";
import { serverPath } from "../../../../../lib/console/ui/pages.ts";
import { type OperationCall, runOperation } from "../../../../../lib/operations/operation.ts";
import { LOGIN_OPERATIONS } from "../../../../../lib/operations/server_logins.ts";
import type { Services } from "../../../../../lib/operations/services.ts";

type LoginGateway = Pick<Gateway, "admin" | "serverLogins">;

export type CallbackPage =
  | { kind: "done"; server: string; isReady: boolean; reason: string; href: string }
  | { kind: "failed"; error: ErrorPage; href: string };

const ClientFields = z.object({
  client_id: z.string().trim().max(2_000).default(""),
  client_secret: z.string().trim().max(2_000).default(""),
});

export type LoginPage = Awaited<ReturnType<typeof loginPage>>;

export async function loginPage(
  gateway: LoginGateway,
  name: string,
  attemptId: string | null,
  written: { clientId?: string; error?: FormError } = {},
) {
  const { server } = gateway.admin.describe(name);
  const logins = await gateway.serverLogins();
  const login = await logins.describe(name);
  const attempt = attemptId === null ? undefined : await logins.attempt(name, attemptId);
  return {
    server,
    refusal: logins.refusal(name),
    login,
    attempt,
    isAttemptOver: attemptId !== null && attempt === undefined,
    error: written.error,
    clientId: written.clientId ?? (login?.clientOrigin === "given" ? login.clientId : ""),
  };
}

/** Begins a login; returns the path of the next page, or the form with its error. */
export async function beginLogin(
  gateway: Services,
  name: string,
  fields: URLSearchParams,
  call: OperationCall,
): Promise<string | LoginPage> {
  const { client_id: id, client_secret: secret } = ClientFields.parse(Object.fromEntries(fields));
  const clientSecret = secret === "" ? {} : { clientSecret: secret };
  const client = id === "" ? {} : { clientId: id, ...clientSecret };
  try {
    const { login } = await runOperation(
      LOGIN_OPERATIONS.login,
      gateway,
      { name, ...client },
      call,
    );
    return loginPath(name, login.attempt);
  } catch (error) {
    return await loginPage(gateway, name, null, { clientId: id, error: formError(error) });
  }
}

/** Finishes a login with the parameters that the authorization server sent back. */
export async function finishLogin(
  gateway: LoginGateway,
  answer: URLSearchParams,
): Promise<CallbackPage> {
  try {
    const finished = await (await gateway.serverLogins()).finish(answer);
    if ("failed" in finished) {
      const { failed, error } = finished;
      return { kind: "failed", error: errorPage(error), href: loginPath(failed) };
    }
    const { name, state, reason } = finished.server;
    const isReady = state === "ready";
    return { kind: "done", server: name, isReady, reason, href: serverPath(name) };
  } catch (error) {
    return { kind: "failed", error: errorPage(error), href: "/servers" };
  }
}

/** A server's login page; with an attempt, the page where that login continues. */
export function loginPath(name: string, attempt?: string): string {
  const path = `${serverPath(name)}/~login`;
  return attempt === undefined ? path : `${path}?${new URLSearchParams({ attempt })}`;
}

export function logoutPath(name: string): string {
  return `${serverPath(name)}/~logout`;
}
