import { z } from "zod";
import type { Challenge } from "../transports/http_errors.ts";
import { loginError, type OAuthHttp, quoted, safeUrl } from "./oauth_http.ts";

const Texts = z.array(z.string().max(1_000)).max(1_000);

/** What a server says of itself (RFC 9728). */
const ResourceMetadata = z.looseObject({
  resource: z.string(),
  authorization_servers: Texts.optional(),
  scopes_supported: Texts.optional(),
});

/** What an authorization server says of itself (RFC 8414, OpenID Connect Discovery). */
const IssuerMetadata = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: z.string().optional(),
  revocation_endpoint: z.string().optional(),
  scopes_supported: Texts.optional(),
  code_challenge_methods_supported: Texts.optional(),
  token_endpoint_auth_methods_supported: Texts.optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
});
export type IssuerMetadata = z.infer<typeof IssuerMetadata>;

export interface Discovered {
  resource: string;
  issuer: IssuerMetadata;
  scopes: string[];
}

export async function discover(
  http: OAuthHttp,
  url: URL,
  challenge: Challenge,
  signal: AbortSignal,
): Promise<Discovered> {
  const resource = await findResource(http, url, challenge, signal);
  // A server of before RFC 9728 is its own authorization server.
  const named = resource?.authorization_servers?.[0] ?? url.origin;
  const at = safeUrl(named, `The authorization server that ${url.host} names`, url);
  const issuer = await resolveIssuer(http, at, signal);
  const scopes = challenge.scope === undefined
    ? resource?.scopes_supported ?? []
    : challenge.scope.split(/\s+/).filter((scope) => scope !== "");
  return { resource: resource?.resource ?? resourceOf(url), issuer, scopes };
}

/** The server's address as it is named to an authorization server (RFC 8707). */
export function resourceOf(url: URL): string {
  // Not with its query, which may hold a secret.
  return url.pathname === "/" ? url.origin : `${url.origin}${url.pathname}`;
}

async function findResource(
  http: OAuthHttp,
  url: URL,
  { resourceMetadata }: Challenge,
  signal: AbortSignal,
) {
  const path = url.pathname === "/" ? "" : url.pathname.replace(/\/$/, "");
  const places = resourceMetadata === undefined
    ? [...new Set([path, ""])].map((end) =>
      new URL(`/.well-known/oauth-protected-resource${end}`, url)
    )
    : [safeUrl(resourceMetadata, `The metadata URL that ${url.host} names`, url)];
  for (const place of places) {
    const { status, body } = await http.get(place, signal);
    if (status !== 200) continue;
    const parsed = ResourceMetadata.safeParse(body);
    if (!parsed.success) {
      throw loginError(`${place.host} returned invalid metadata of the server`);
    }
    // Else a server could have us fetch a token that is good for another one.
    if (!covers(parsed.data.resource, url)) {
      throw loginError(
        `${url.host} identifies itself as another server, ${
          quoted(parsed.data.resource)
        }: a token for that server ` +
          "must not be sent here",
      );
    }
    return parsed.data;
  }
  return undefined;
}

/** Whether a resource is the server at `url`, or the place it is part of. */
export function covers(resource: string, url: URL): boolean {
  const named = URL.parse(resource);
  if (named === null || named.origin !== url.origin) return false;
  const folder = named.pathname.endsWith("/") ? named.pathname : `${named.pathname}/`;
  return `${url.pathname}/`.startsWith(folder);
}

async function resolveIssuer(
  http: OAuthHttp,
  at: URL,
  signal: AbortSignal,
): Promise<IssuerMetadata> {
  const path = at.pathname.replace(/\/$/, "");
  const places = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    ...(path === "" ? [] : [`${path}/.well-known/openid-configuration`]),
  ];
  for (const place of places) {
    const { status, body } = await http.get(new URL(place, at), signal);
    if (status !== 200) continue;
    const parsed = IssuerMetadata.safeParse(body);
    if (parsed.success) return checkedIssuer(parsed.data, at);
  }
  throw loginError(
    `Cannot find out how to log in: ${at.origin} has no authorization server metadata`,
    ["If the server accepts an API key, add it as a header in its entry", "Or ask its operator"],
  );
}

function checkedIssuer(metadata: IssuerMetadata, at: URL): IssuerMetadata {
  if (!isSameIssuer(metadata.issuer, at)) {
    throw loginError(
      `The authorization server at ${at.href} identifies itself as another one, ` +
        `${quoted(metadata.issuer)}: it may be an impostor`,
    );
  }
  if (!metadata.code_challenge_methods_supported?.includes("S256")) {
    throw loginError(
      `The authorization server ${at.host} does not support PKCE with S256, without which someone ` +
        "else could use the authorization code of a login",
      ["Ask its operator to enable PKCE"],
    );
  }
  const of = (what: string) => `The ${what} of ${at.host}`;
  safeUrl(metadata.authorization_endpoint, of("login page"), at);
  safeUrl(metadata.token_endpoint, of("token endpoint"), at);
  for (const key of ["registration_endpoint", "revocation_endpoint"] as const) {
    if (metadata[key] !== undefined) safeUrl(metadata[key], of(key.replace("_", " ")), at);
  }
  return metadata;
}

/** A slash at the end is all that may differ. */
function isSameIssuer(issuer: string, at: URL): boolean {
  const plain = (url: URL | null) => url?.href.replace(/\/$/, "");
  return plain(URL.parse(issuer)) === plain(at);
}
