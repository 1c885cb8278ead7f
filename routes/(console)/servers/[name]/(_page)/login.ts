import { z } from "zod";
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
import type { ServerStatus } from "../../../../../lib/core/server.ts";
import type { AttemptView, LoginView } from "../../../../../lib/operations/login_admin.ts";

type LoginGateway = Pick<Gateway, "admin" | "serverLogins">;

/** The page on which a person logs in to a server, or out of it. */
export interface LoginPage {
  server: ServerStatus;
  /** Why nobody can log in here, in words. */
  refusal?: string;
  login?: LoginView;
  /** A login that was begun. */
  attempt?: AttemptView;
  /** One was begun, and has run out. */
  isAttemptOver?: true;
  error?: FormError;
  /** What was written before. */
  clientId: string;
}

/** What came of the answer that an authorization server sent. */
export type CallbackPage =
  | { kind: "done"; server: string; isReady: boolean; reason: string; href: string }
  | { kind: "failed"; error: ErrorPage; href: string };

const ClientFields = z.object({
  client_id: z.string().trim().max(2_000).default(""),
  client_secret: z.string().trim().max(2_000).default(""),
});

export async function loginPage(
  gateway: LoginGateway,
  name: string,
  attemptId: string | null,
  written: { clientId?: string; error?: FormError } = {},
): Promise<LoginPage> {
  const { server } = gateway.admin.describe(name);
  const logins = await gateway.serverLogins();
  const refusal = logins.refusal(name);
  const login = await logins.describe(name);
  const attempt = attemptId === null ? undefined : await logins.attempt(name, attemptId);
  return {
    server,
    clientId: written.clientId ?? (login?.clientOrigin === "given" ? login.clientId : ""),
    ...(written.error === undefined ? {} : { error: written.error }),
    ...(refusal === undefined ? {} : { refusal }),
    ...(login === undefined ? {} : { login }),
    ...(attempt === undefined ? {} : { attempt }),
    ...(attemptId !== null && attempt === undefined ? { isAttemptOver: true as const } : {}),
  };
}

/** Begins a login: the path of the page that shows where it goes on, or the form with its error. */
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

/** Takes up the answer that a person brought back from an authorization server. */
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

/** Where a person logs in to a server; with the login that was begun, where it goes on. */
export function loginPath(name: string, attempt?: string): string {
  const path = `${serverPath(name)}/~login`;
  return attempt === undefined ? path : `${path}?${new URLSearchParams({ attempt })}`;
}

export function logoutPath(name: string): string {
  return `${serverPath(name)}/~logout`;
}
