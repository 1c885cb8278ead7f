import {
  exchangeAuthorization,
  OAuthError,
  type OAuthTokens,
  parseErrorResponse,
  refreshAuthorization,
  RegistrationRejectedError,
} from "@modelcontextprotocol/client";
import type { Login } from "../../storage/logins_repository.ts";
import type { Waiting } from "../../storage/pending_logins_repository.ts";
import { asLoginError, loginError, type OAuthHttp, quoted } from "./oauth_http.ts";

/** What the SDK says of an answer that it cannot read, and what says nothing of our tokens. */
const NO_VERDICT = ["server_error", "temporarily_unavailable"];

type IssuedTokens = Pick<
  Login,
  "accessToken" | "refreshToken" | "issuedAt" | "expiresAt" | "scopes"
>;
export type TokenClient = Waiting["prepared"];

export class TokenRefused extends Error {
  override readonly name = "TokenRefused";
}

export async function tradeCode(
  http: OAuthHttp,
  { prepared, redirectUri, verifier }: Waiting,
  code: string,
): Promise<IssuedTokens> {
  return await issued(
    prepared,
    exchangeAuthorization(prepared.issuer, {
      ...requestOptions(http, prepared),
      authorizationCode: code,
      codeVerifier: verifier,
      redirectUri,
    }),
  );
}

/** The refresh token stays as it was where no new one came. */
export async function refreshTokens(
  http: OAuthHttp,
  client: TokenClient,
  refreshToken: string,
): Promise<IssuedTokens> {
  const options = { ...requestOptions(http, client), refreshToken };
  return await issued(client, refreshAuthorization(client.issuer, options));
}

export async function revokeToken(
  http: OAuthHttp,
  client: TokenClient,
  token: string,
  hint: "access_token" | "refresh_token",
): Promise<boolean> {
  if (client.revocationEndpoint === undefined) return false;
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
  const body = new URLSearchParams({ token, token_type_hint: hint });
  authenticate(client, headers, body);
  const response = await http.fetch(client.revocationEndpoint, { method: "POST", headers, body });
  return response.status === 200;
}

/** Why a request to an authorization server failed, on one line. */
export async function oauthErrorText(error: unknown): Promise<string> {
  const cause = error instanceof RegistrationRejectedError
    ? await parseErrorResponse(error.body)
    : error;
  if (!(cause instanceof OAuthError)) {
    return cause instanceof Error ? cause.message : String(cause);
  }
  const { code, message } = cause;
  return message === "" || message === code ? quoted(code) : `${quoted(code)}, ${quoted(message)}`;
}

/** The endpoint that the login was made with: a refresh token only ever goes where it came from. */
function requestOptions(http: OAuthHttp, client: TokenClient) {
  const { issuer, tokenEndpoint, clientId, resource } = client;
  return {
    metadata: {
      issuer,
      authorization_endpoint: issuer,
      token_endpoint: tokenEndpoint,
      response_types_supported: ["code"],
    },
    clientInformation: { client_id: clientId },
    addClientAuthentication: (headers: Headers, form: URLSearchParams) =>
      authenticate(client, headers, form),
    resource,
    fetchFn: http.fetch,
  };
}

async function issued(client: TokenClient, asked: Promise<OAuthTokens>): Promise<IssuedTokens> {
  const { host } = new URL(client.tokenEndpoint);
  const tokens = await asked.catch(async (error) => {
    if (error instanceof OAuthError) {
      const message = `${host} did not issue a token: ${await oauthErrorText(error)}`;
      throw NO_VERDICT.includes(error.code) ? loginError(message) : new TokenRefused(message);
    }
    throw asLoginError(error, `${host} did not return a bearer token`);
  });
  const { access_token: accessToken, token_type, expires_in, scope } = tokens;
  // What cannot stand in a header could not be sent.
  if (!/^bearer$/i.test(token_type) || !/^[\x21-\x7e]+$/.test(accessToken)) {
    throw loginError(`${host} did not return a bearer token`);
  }
  const issuedAt = Date.now();
  return {
    accessToken,
    refreshToken: tokens.refresh_token || undefined,
    issuedAt,
    expiresAt: expires_in && expires_in > 0 ? issuedAt + expires_in * 1_000 : undefined,
    // Where nothing else is said, what was asked for was granted.
    scopes: scope?.split(/\s+/).filter((one) => one !== "") ?? client.scopes,
  };
}

/** Says who asks. Not left to the SDK, which does not encode an id and a secret as RFC 6749 wants. */
function authenticate(client: TokenClient, headers: Headers, form: URLSearchParams): void {
  const { clientId, clientSecret = "", clientAuth } = client;
  if (clientAuth === "client_secret_basic") {
    const pair = [clientId, clientSecret].map((part) =>
      new URLSearchParams({ "": part }).toString().slice(1)
    ).join(":");
    headers.set("authorization", `Basic ${btoa(pair)}`);
    return;
  }
  form.set("client_id", clientId);
  if (clientAuth === "client_secret_post") form.set("client_secret", clientSecret);
}
