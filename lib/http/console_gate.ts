import type { Access } from "../auth/access.ts";
import type { ConsoleLogins } from "../auth/console_logins.ts";
import { insufficientScope, isOAuthPrincipal } from "../auth/oauth_scopes.ts";
import { EVERYONE, type Right } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { isForwarded, refuseForwarded } from "./guard.ts";
import { peerOf } from "./request_origin.ts";

/** `__Host-`: never sent to another host, a subdomain or over plain HTTP beyond this machine. */
export const COOKIE = "__Host-quartermaster";

/** Paths without a caller: the login, and what pages need before it. */
const OPEN =
  /^\/(login|logout|healthz|oauth\/(callback|client\.json)|\.well-known\/.*|(_fresh|_frsh)\/.*|[\w.-]+\.(svg|png|ico|js|css|txt))$/;

interface ConsoleGateOptions {
  access: Access;
  logins: ConsoleLogins;
}

/** Identifies who makes a request to the console and its API, and checks the rights of routes. */
export class ConsoleGate {
  readonly #options: ConsoleGateOptions;

  constructor(options: ConsoleGateOptions) {
    this.#options = options;
  }

  /** Who the request is made for; throws TOKEN_REQUIRED, LIMIT_EXCEEDED or FOREIGN_ORIGIN. */
  async identify(request: Request, info?: Deno.ServeHandlerInfo): Promise<string> {
    if (!OPEN.test(routedPath(request))) return await this.#identify(request, info);
    // Logging out is a change too.
    if (cookieOf(request) !== undefined) checkOwnPage(request);
    return EVERYONE;
  }

  /** Throws ACCESS_DENIED or INSUFFICIENT_SCOPE unless the caller has all these rights everywhere. */
  demand(request: Request, principal: string, rights: readonly Right[]): void {
    if (this.#isNobody(request, principal)) throw new GatewayError("TOKEN_REQUIRED");
    const grants = this.#options.access.grants(principal);
    const missing = rights.filter((right) => !grants.may(right));
    if (grants.isWhole && missing.length === 0) return;
    // Only a program can get itself another token; a browser has a cookie.
    if (
      grants.isWhole && isOAuthPrincipal(principal) && request.headers.get("authorization") !== null
    ) {
      throw insufficientScope(grants.rights, ...missing);
    }
    throw new GatewayError("ACCESS_DENIED", {
      message: grants.isWhole
        ? `This token may not ${missing[0]} here`
        : "The console requires a token for all servers, tools and toolsets",
      recoverySteps: ["Use another token", "Or ask the owner of the gateway for one"],
    });
  }

  /** Whether a caller may look at the console: its frame shows numbers of everything. */
  mayLook(request: Request, principal: string): boolean {
    const grants = this.#options.access.grants(principal);
    return grants.isWhole && grants.may("read") && !this.#isNobody(request, principal);
  }

  /** An open path identifies nobody, who has rights only on the gateway's own machine. */
  #isNobody(request: Request, principal: string): boolean {
    return principal === EVERYONE &&
      (!this.#options.access.isValid(EVERYONE) || isForwarded(request));
  }

  /** For what is read without a route: who the request is made for, if they may read. */
  async admitReader(request: Request, info?: Deno.ServeHandlerInfo): Promise<string> {
    const principal = await this.identify(request, info);
    this.demand(request, principal, ["read"]);
    return principal;
  }

  isReader(request: Request, info?: Deno.ServeHandlerInfo): Promise<boolean> {
    return this.admitReader(request, info).then(() => true, () => false);
  }

  /** A stream that ends when its reader's credential does. */
  async stream(
    request: Request,
    answer: () => Response,
    info?: Deno.ServeHandlerInfo,
  ): Promise<Response> {
    const principal = await this.admitReader(request, info);
    const response = answer();
    if (principal === EVERYONE || response.body === null) return response;
    const gate = new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, controller) => {
        if (!await this.isReader(request)) return controller.terminate();
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

  async #identify(request: Request, info?: Deno.ServeHandlerInfo): Promise<string> {
    const { access, logins } = this.#options;
    const authorization = request.headers.get("authorization");
    if (authorization !== null) {
      return await access.identify(authorization, { place: () => peerOf(info) });
    }
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
    message: "A change authenticated by a cookie must come from a page of this gateway",
  });
}
