import { GatewayError } from "../core/errors.ts";
import { cookieOf, setCookie } from "../http/console_gate.ts";
import type { Gateway } from "../gateway.ts";
import { type FormError, formError } from "./errors.ts";
import { localPath } from "./ui/pages.ts";
import { isForwarded } from "../http/guard.ts";

type LoginHost = Pick<Gateway, "access" | "consoleLogins" | "loginAttempts"> & {
  audit?: Pick<Gateway["audit"], "note">;
  othersFollow?: Gateway["othersFollow"];
};

export interface ConsoleLoginPage {
  then: string;
  isOpen: boolean;
  isGuest: boolean;
  error?: FormError;
}

export const MAKE_TOKEN = "quartermaster token create --name me --rights read,call,manage";

export function consoleLoginPage(
  { access }: Pick<Gateway, "access">,
  request: Request,
  then: string,
  error?: unknown,
): ConsoleLoginPage {
  const isGuest = !access.isRequired && isForwarded(request);
  const page = { then, isOpen: !access.isRequired && !isGuest, isGuest };
  return error === undefined ? page : { ...page, error: loginError(error) };
}

/** The steps of the error itself are for programs, which send a header. */
function loginError(error: unknown): FormError {
  const shown = formError(error);
  if (shown.code !== "TOKEN_REQUIRED") return shown;
  return {
    ...shown,
    steps: [
      "Copy the whole token and paste it below",
      "Or create a new token with the command below",
    ],
  };
}

export async function logIn(
  gateway: LoginHost,
  { token, then, place }: { token: string; then: string; place: string },
): Promise<Response> {
  const { access, consoleLogins, loginAttempts } = gateway;
  let identified: Awaited<ReturnType<typeof access.identifyText>>;
  try {
    // Behind a proxy all users share one address: one who guesses must not lock out the others.
    identified = await access.identifyText(token, () => loginAttempts.check(place));
  } catch (error) {
    if (error instanceof GatewayError && error.code === "LIMIT_EXCEEDED") throw error;
    loginAttempts.failed(place);
    gateway.audit?.note({
      action: "console.login.fail",
      subject: "console",
      principal: "nobody",
      from: `console, ${place}`,
      after: { reason: error instanceof Error ? error.message : String(error) },
      isUnproven: true,
    });
    throw error;
  }
  const { principal, endsAt } = identified;
  const grants = access.grants(principal);
  const by = { subject: "console", principal, from: `console, ${place}` };
  const refused = (reason: string, message: string, step: string) => {
    gateway.audit?.note({ action: "console.login.fail", ...by, after: { reason } });
    return new GatewayError("ACCESS_DENIED", { message, recoverySteps: [step] });
  };
  if (!grants.isWhole) {
    throw refused(
      "The token is restricted to certain servers, tools or toolsets",
      "Cannot log in: this token is restricted to certain servers, tools or toolsets, and the console shows all of them",
      "Log in with a token for all servers, tools and toolsets",
    );
  }
  if (!grants.may("read")) {
    throw refused(
      "The token does not have the read right",
      "Cannot log in: the console requires the read right, which this token does not have",
      "Log in with a token that has the read right",
    );
  }
  const { cookie, seconds } = await consoleLogins.begin(principal, endsAt);
  gateway.audit?.note({ action: "console.login", ...by });
  await gateway.othersFollow?.();
  return redirect(localPath(then), setCookie(cookie, seconds));
}

export async function logOut(
  gateway: LoginHost,
  request: Request,
  isEverywhere: boolean,
): Promise<Response> {
  const { consoleLogins } = gateway;
  const cookie = cookieOf(request);
  const principal = cookie === undefined ? undefined : consoleLogins.find(cookie);
  if (cookie !== undefined) await consoleLogins.end(cookie);
  if (isEverywhere && principal !== undefined) await consoleLogins.endAll(principal);
  await gateway.othersFollow?.();
  if (principal !== undefined) {
    const after = isEverywhere ? { where: "everywhere" } : undefined;
    gateway.audit?.note({ action: "console.logout", subject: "console", principal, after });
  }
  return redirect("/login", setCookie("", 0));
}

function redirect(location: string, cookie: string): Response {
  return new Response(null, { status: 303, headers: { location, "set-cookie": cookie } });
}
