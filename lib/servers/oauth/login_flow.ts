import {
  computeScopeUnion,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
import { createHash } from "node:crypto";
import type { Login, LoginsRepository } from "../../storage/logins_repository.ts";
import type {
  LoginAttempt,
  PendingLoginsRepository,
  Waiting,
} from "../../storage/pending_logins_repository.ts";
import { readChallenge } from "../transports/http_errors.ts";
import { discoverLogin, identify } from "./authorization_server.ts";
import {
  asLoginError,
  loginError,
  type LoginReach,
  OAuthHttp,
  type OAuthHttpOptions,
  quoted,
  safeUrl,
} from "./oauth_http.ts";
import { FinishFailed } from "./server_login.ts";
import { revokeToken, TokenRefused, tradeCode } from "./token_request.ts";

const ATTEMPT_MS = 10 * 60_000;

export interface LoginFlowOptions extends OAuthHttpOptions {
  repository: LoginsRepository;
  pending: PendingLoginsRepository;
  redirectUri: string;
  documentUrl?: string | undefined;
  reach?: LoginReach | undefined;
  learn(secrets: string[]): void;
}

export interface LoginTarget {
  name: string;
  url: string;
  headers: Record<string, string>;
  mark: string;
  isAdded: boolean;
}

export interface LoginWish {
  client?: { id: string; secret?: string | undefined } | undefined;
  /** What the server has asked for, separated by spaces. */
  scope?: string | undefined;
}

export interface StartedLogin {
  attempt: string;
  url: string;
  issuer: string;
  scopes: string[];
  expiresAt: number;
}

export class LoginFlow {
  readonly #options: LoginFlowOptions;

  constructor(options: LoginFlowOptions) {
    this.#options = options;
  }

  async start(target: LoginTarget, wish: LoginWish, signal: AbortSignal): Promise<StartedLogin> {
    const { redirectUri, documentUrl, pending, learn } = this.#options;
    const url = safeUrl(target.url, `The URL of server "${target.name}"`);
    const http = await this.#httpFor(target.name, signal);
    const challenge = await challengeOfServer(http, url, target.headers);
    const before = await this.#loginBefore(target.name);
    // What was granted stays granted: a login for one more scope asks for those it has as well.
    const scope = computeScopeUnion(before?.scopes.join(" "), wish.scope);
    const { resource, issuer, revocationEndpoint, scopes } = await discoverLogin(
      http,
      url,
      wish.scope === undefined || scope === undefined ? challenge : { ...challenge, scope },
    );
    // A client id that a person gave stays good, but only for the same authorization server.
    const isGiven = before?.clientOrigin === "given" && before.issuer === issuer.issuer;
    const given = wish.client ??
      (isGiven ? { id: before.clientId, secret: before.clientSecret } : undefined);
    const identity = await identify(http, { issuer, redirectUri, documentUrl, given, scopes });
    const state = randomText();
    const { authorizationUrl, codeVerifier: verifier } = await startAuthorization(issuer.issuer, {
      metadata: issuer,
      clientInformation: { client_id: identity.clientId },
      redirectUrl: redirectUri,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
      state,
      resource,
    }).catch((error) => {
      throw asLoginError(error, "The login page is not a valid URL");
    });
    learn([state, verifier, identity.clientSecret].filter((one) => one !== undefined));
    const attempt = attemptId(state);
    const expiresAt = Date.now() + ATTEMPT_MS;
    await pending.save(attempt, target.name, expiresAt, {
      prepared: {
        server: target.name,
        addressMark: target.mark,
        isAdded: target.isAdded,
        resource,
        issuer: issuer.issuer,
        tokenEndpoint: issuer.token_endpoint,
        revocationEndpoint,
        scopes,
        ...identity,
      },
      redirectUri,
      namesIssuer: issuer.authorization_response_iss_parameter_supported ?? false,
      verifier,
      authorizeUrl: authorizationUrl.href,
    });
    return { attempt, url: authorizationUrl.href, issuer: issuer.issuer, scopes, expiresAt };
  }

  async finish(
    answer: URLSearchParams,
    isStillAt: (server: string, mark: string) => boolean,
    signal: AbortSignal,
  ): Promise<{ server: string; attempt: string }> {
    const attempt = attemptId(answer.get("state") ?? "");
    const taken = await this.#options.pending.take(attempt);
    if (taken?.waiting === undefined) {
      throw loginError(
        "No login is waiting for this response: it was already used, or it expired after 10 minutes",
        ["Start the login again"],
      );
    }
    const settle = (outcome: Parameters<PendingLoginsRepository["settle"]>[2]) =>
      this.#options.pending.settle(attempt, taken, outcome);
    try {
      const login = await this.#trade(taken.waiting, answer, isStillAt, signal);
      await this.#options.repository.replace(login);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      await settle({ kind: "failed", reason });
      throw new FinishFailed(taken.server, attempt, error);
    }
    await settle({ kind: "done" });
    return { server: taken.server, attempt };
  }

  findAttempt(id: string): Promise<LoginAttempt | undefined> {
    return this.#options.pending.find(id);
  }

  async end(server: string, signal: AbortSignal): Promise<{ existed: boolean; revoked: boolean }> {
    // First: whatever the authorization server says, it is not used again.
    const { existed, login } = await this.forget(server);
    return { existed, revoked: login !== undefined && await this.revoke(login, signal) };
  }

  async forget(server: string): Promise<{ existed: boolean; login?: Login | undefined }> {
    const { repository } = this.#options;
    const found = await repository.find(server).catch(() => undefined);
    const existed = found !== undefined || await repository.findOutline(server) !== undefined;
    await repository.delete(server);
    return { existed, login: found?.login };
  }

  async revoke(login: Login, signal: AbortSignal): Promise<boolean> {
    const { refreshToken, accessToken } = login;
    const http = await this.#httpFor(login.server, signal);
    const revoke = (token: string | undefined, hint: "access_token" | "refresh_token") =>
      token === undefined ? true : revokeToken(http, login, token, hint).catch(() => false);
    // The refresh token first: with it, others could be had.
    const revoked = await revoke(refreshToken, "refresh_token") &&
      await revoke(accessToken, "access_token");
    return revoked && accessToken !== undefined;
  }

  async #trade(
    waiting: Waiting,
    answer: URLSearchParams,
    isStillAt: (server: string, mark: string) => boolean,
    signal: AbortSignal,
  ): Promise<Login> {
    const { prepared } = waiting;
    const host = new URL(prepared.issuer).host;
    checkIssuer(waiting, answer.get("iss") ?? undefined);
    const error = answer.get("error");
    if (error !== null) {
      const description = answer.get("error_description");
      throw loginError(
        `${host} refused the login: ${quoted(error)}` +
          (description === null ? "" : `, ${quoted(description)}`),
      );
    }
    const code = answer.get("code");
    if (code === null || code === "") {
      throw loginError(`${host} sent no authorization code in its response`);
    }
    this.#options.learn([code]);
    if (!isStillAt(prepared.server, prepared.addressMark)) {
      throw loginError(
        `Server "${prepared.server}" was changed or removed during the login`,
      );
    }
    const http = await this.#httpFor(prepared.server, signal);
    const tokens = await tradeCode(http, waiting, code).catch((error) => {
      throw error instanceof TokenRefused ? loginError(error.message) : error;
    });
    const { accessToken, refreshToken, issuedAt } = tokens;
    this.#options.learn([accessToken, refreshToken].filter((one) => one !== undefined));
    return { ...prepared, ...tokens, id: crypto.randomUUID(), loggedInAt: issuedAt };
  }

  async #httpFor(server: string, signal: AbortSignal): Promise<OAuthHttp> {
    return new OAuthHttp({ ...this.#options, ...await this.#options.reach?.(server) }, signal);
  }

  async #loginBefore(server: string): Promise<Login | undefined> {
    return (await this.#options.repository.find(server).catch(() => undefined))?.login;
  }
}

/** An answer that names another authorization server was meant for that one (RFC 9207). */
function checkIssuer({ prepared, namesIssuer }: Waiting, iss: string | undefined): void {
  const { issuer: expectedIssuer } = prepared;
  const { host } = new URL(expectedIssuer);
  try {
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer,
      issParameterSupported: namesIssuer,
    });
  } catch {
    throw loginError(
      iss === undefined
        ? `The response does not name its issuer, which responses from ${host} do`
        : `The response comes from a different authorization server, ${quoted(iss)}, not from ` +
          `${host}: its code is not used`,
    );
  }
}

/** Asks as a client would that has no credentials: the refusal says where to log in. */
async function challengeOfServer(http: OAuthHttp, url: URL, headers: Record<string, string>) {
  const ping = { jsonrpc: "2.0", id: 0, method: "ping" };
  const sent = new Headers(headers);
  sent.set("accept", "application/json, text/event-stream");
  const refusal = await http.challenge(url, ping, sent);
  return refusal === undefined ? {} : readChallenge(refusal.get("www-authenticate"));
}

function randomText(): string {
  return crypto.getRandomValues(new Uint8Array(32))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Stands for a state wherever that itself must not be kept or shown. */
function attemptId(state: string): string {
  return createHash("sha256").update(state).digest("hex");
}
