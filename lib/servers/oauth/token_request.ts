import { z } from "zod";
import type { Login } from "../../storage/logins_repository.ts";
import { isTransient } from "../transports/sse_stream.ts";
import { loginError, type OAuthHttp, quoted, safeUrl } from "./oauth_http.ts";

const Tokens = z.looseObject({
  // What cannot stand in a header could not be sent.
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().positive().optional().catch(undefined),
  refresh_token: z.string().min(1).optional(),
  scope: z.string().optional(),
});

const Refused = z.looseObject({
  error: z.string(),
  error_description: z.string().optional(),
});
/** Its own word, such as `invalid_grant`: pages of proxies say "Forbidden" and the like. */
const Verdict = z.looseObject({ error: z.string().regex(/^[a-z0-9_.-]+$/) });

export type TokenClient = Pick<
  Login,
  "clientId" | "clientSecret" | "clientAuth" | "tokenEndpoint" | "revocationEndpoint" | "resource"
>;

export interface IssuedTokens {
  accessToken: string;
  refreshToken: string | undefined;
  issuedAt: number;
  expiresAt: number | undefined;
  /** Where other rights were given than asked for. */
  scopes: string[] | undefined;
}

export class TokenRefused extends Error {
  override readonly name = "TokenRefused";
}

export async function revokeToken(
  http: OAuthHttp,
  client: TokenClient,
  token: string,
  hint: "access_token" | "refresh_token",
  signal: AbortSignal,
): Promise<boolean> {
  if (client.revocationEndpoint === undefined) return false;
  const url = safeUrl(client.revocationEndpoint, "The revocation endpoint");
  const form = new URLSearchParams({ token, token_type_hint: hint });
  const { status } = await http.post(url, form, authenticate(client, form), signal);
  return status === 200;
}

export function oauthErrorText(status: number, body: unknown): string {
  const parsed = Refused.safeParse(body);
  if (!parsed.success) return `HTTP ${status}`;
  const { error, error_description: description } = parsed.data;
  return description === undefined ? quoted(error) : `${quoted(error)}, ${quoted(description)}`;
}

/** Trades a grant (the code of a login, a refresh token) for tokens. */
export async function requestTokens(
  http: OAuthHttp,
  client: TokenClient,
  grant: Record<string, string>,
  signal: AbortSignal,
): Promise<IssuedTokens> {
  const form = new URLSearchParams({ ...grant, resource: client.resource });
  const url = safeUrl(client.tokenEndpoint, "The token endpoint");
  const { status, body } = await http.post(url, form, authenticate(client, form), signal);
  if (status !== 200) {
    const message = `${url.host} did not issue a token: ${oauthErrorText(status, body)}`;
    // Out of order or busy says nothing about our tokens, nor does the error of a proxy.
    const isVerdict = status >= 400 && !isTransient(status) && Verdict.safeParse(body).success;
    throw isVerdict ? new TokenRefused(message) : loginError(message);
  }
  const parsed = Tokens.safeParse(body);
  if (!parsed.success) throw loginError(`${url.host} did not return a bearer token`);
  const { access_token, refresh_token, expires_in, scope } = parsed.data;
  const issuedAt = Date.now();
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    issuedAt,
    expiresAt: expires_in === undefined ? undefined : issuedAt + expires_in * 1_000,
    scopes: scope?.split(/\s+/).filter((one) => one !== ""),
  };
}

/** Says who asks: in the form or in a header, as the authorization server wants it. */
function authenticate(client: TokenClient, form: URLSearchParams): Record<string, string> {
  const { clientId, clientSecret = "", clientAuth } = client;
  if (clientAuth === "client_secret_basic") {
    const pair = [clientId, clientSecret].map((part) =>
      new URLSearchParams({ "": part }).toString().slice(1)
    ).join(":");
    return { authorization: `Basic ${new TextEncoder().encode(pair).toBase64()}` };
  }
  form.set("client_id", clientId);
  if (clientAuth === "client_secret_post") form.set("client_secret", clientSecret);
  return {};
}
