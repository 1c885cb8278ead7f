import type { Access } from "../auth/access.ts";
import type { ConsoleLogins } from "../auth/console_logins.ts";
import { insufficientScope, isOAuthPrincipal } from "../auth/oauth_scopes.ts";
import { EVERYONE, type Right } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { refuseForwarded } from "./guard.ts";

/** `__Host-`: never sent to another host, a subdomain or over plain HTTP beyond this machine. */
export const COOKIE = "__Host-quartermaster";

/** What anybody may ask for: the way in, and what no page can do without. */
const OPEN =
  /^\/(login|logout|healthz|oauth\/(callback|client\.json)|\.well-known\/.*|(_fresh|_frsh)\/.*|[\w.-]+\.(svg|png|ico|js|css|txt))$/;

interface ConsoleGateOptions {
  access: Access;
  logins: ConsoleLogins;
}

/** Lets those into the console and its API who may come in. */
export class ConsoleGate {
  readonly #options: ConsoleGateOptions;

  constructor(options: ConsoleGateOptions) {
    this.#options = options;
  }

  /**
   * Who the request is made for; throws TOKEN_REQUIRED, ACCESS_DENIED, INSUFFICIENT_SCOPE or
   * FOREIGN_ORIGIN. `onDenied` is told of somebody who is known and may not do this.
   */
  async admit(
    request: Request,
    onDenied?: (principal: string, error: unknown) => Promise<void>,
  ): Promise<string> {
    const pathname = routedPath(request);
    if (OPEN.test(pathname)) {
      // To log somebody out is a change as well.
      if (cookieOf(request) !== undefined) checkOwnPage(request);
      return EVERYONE;
    }
    const principal = await this.#identify(request);
    try {
      this.#checkRights(request, pathname, principal);
    } catch (error) {
      await onDenied?.(principal, error);
      throw error;
    }
    return principal;
  }

  isAdmitted(request: Request): Promise<boolean> {
    return this.admit(request).then(() => true, () => false);
  }

  /** A stream that ends with what let its reader in: what is said later is not for one who is gone. */
  async stream(request: Request, answer: () => Response): Promise<Response> {
    const principal = await this.admit(request);
    const response = answer();
    if (principal === EVERYONE || response.body === null) return response;
    const gate = new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, controller) => {
        if (!await this.isAdmitted(request)) return controller.terminate();
        if (this.#maySee(principal, chunk)) controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(gate), response);
  }

  /** Everybody's calls are for those who manage, as on the page that lists them. */
  #maySee(principal: string, chunk: Uint8Array): boolean {
    return this.#options.access.grants(principal).may("manage") ||
      !new TextDecoder().decode(chunk).includes("event: activity\n");
  }

  async #identify(request: Request): Promise<string> {
    const { access, logins } = this.#options;
    const authorization = request.headers.get("authorization");
    if (authorization !== null) return await access.identify(authorization);
    const cookie = cookieOf(request);
    const principal = cookie === undefined ? undefined : logins.find(cookie);
    if (principal !== undefined && access.isValid(principal)) {
      checkOwnPage(request);
      return principal;
    }
    const anybody = await access.identify(null);
    refuseForwarded(request);
    return anybody;
  }

  #checkRights(request: Request, pathname: string, principal: string): void {
    if (OPERATIONS.test(pathname)) return;
    const grants = this.#options.access.grants(principal);
    const missing = neededFor(request.method, pathname).filter((right) => !grants.may(right));
    if (grants.isWhole && missing.length === 0) return;
    // A browser that shows a cookie asks nobody for a token.
    if (
      grants.isWhole && isOAuthPrincipal(principal) && request.headers.get("authorization") !== null
    ) {
      throw insufficientScope(grants.rights, ...missing);
    }
    throw new GatewayError("ACCESS_DENIED", {
      message: grants.isWhole
        ? `This token may not ${missing[0]} here`
        : "The console shows everything: it needs a token for all servers, tools and toolsets",
      recoverySteps: ["Use another token", "Or ask the owner of the gateway for one"],
    });
  }
}

export function cookieOf(request: Request): string | undefined {
  const cookies = request.headers.get("cookie") ?? "";
  for (const part of cookies.split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === COOKIE && value) return value;
  }
}

export function setCookie(value: string, seconds: number): string {
  return `${COOKIE}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Strict`;
}

/** Names, values and doings of others, which to look at is more than to see what there is to call. */
const GUARDED = /^\/(security\/.|activity(\/|$))/;
/** What decides which words all clients read, and whether money is spent. */
const DECIDING = /^\/optimization(\/.*)?$/;
/** What a caller decides for itself alone: the toolset that it has equipped. */
const OWN = /^\/(api\/equipped|toolsets\/~unequip|(api\/)?toolsets\/[^/]+\/equip)$/;
/** Operations, which check the rights that they declare themselves. */
const OPERATIONS =
  /^\/api\/([a-z]+\.[a-z_]+|openapi\.json|(servers|toolsets|tokens|projects|secrets|optimization|review|consents|approvals|audit|activity)(\/.*)?|equipped|search|status|exchange\/.*)$/;
/** Does many things, and asks for the rights of each itself. */
const ACTIONS = "/actions";

function neededFor(method: string, pathname: string): Right[] {
  if (method === "GET" || method === "HEAD") {
    return GUARDED.test(pathname) ? ["read", "manage"] : ["read"];
  }
  if (/^\/api\/tools\/[^/]+\/[^/]+\/call$/.test(pathname)) return ["manage", "call"];
  if (OWN.test(pathname) || pathname === ACTIONS) return ["read"];
  if (DECIDING.test(pathname)) return ["manage", "optimize"];
  return ["manage"];
}

/** The path as the routes read it: slashes merged, letters as letters. */
function routedPath({ url }: Request): string {
  const path = new URL(url).pathname.replace(/\/{2,}/g, "/");
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** A cookie comes by itself: only a page of this gateway's own may make use of it for a change. */
function checkOwnPage({ method, headers }: Request): void {
  if (method === "GET" || method === "HEAD") return;
  // The guard has refused a foreign origin already; here one has to be there.
  if (headers.get("origin") !== null || headers.get("sec-fetch-site") === "same-origin") return;
  throw new GatewayError("FOREIGN_ORIGIN", {
    message: "A change by cookie must come from a page of this gateway",
  });
}
