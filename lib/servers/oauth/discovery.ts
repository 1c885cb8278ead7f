import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  computeScopeUnion,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  IssuerMismatchError,
  type OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import type { Challenge } from "../transports/http_errors.ts";
import { asLoginError, loginError, type OAuthHttp, quoted, safeUrl } from "./oauth_http.ts";

/** Addresses in the metadata of an authorization server, as they are called in messages. */
const ENDPOINTS = {
  authorization_endpoint: "login page",
  token_endpoint: "token endpoint",
  registration_endpoint: "registration endpoint",
  revocation_endpoint: "revocation endpoint",
};
const Raw = z.record(z.string(), z.unknown()).catch({});

export interface Discovered {
  resource: string;
  issuer: AuthorizationServerMetadata;
  revocationEndpoint: string | undefined;
  scopes: string[];
}

export async function discoverLogin(
  http: OAuthHttp,
  url: URL,
  challenge: Challenge,
): Promise<Discovered> {
  const resource = await findResource(http, url, challenge);
  // A server of before RFC 9728 is its own authorization server.
  const named = resource?.authorization_servers?.[0] ?? url.origin;
  const at = safeUrl(named, `The authorization server that ${url.host} names`, url);
  const { issuer, revocationEndpoint } = await resolveIssuer(http, named, at);
  const scopes = challenge.scope ?? resource?.scopes_supported?.join(" ");
  // Without it OpenID providers give nothing to renew the login with.
  const refresh = scopes && issuer.scopes_supported?.includes("offline_access")
    ? "offline_access"
    : undefined;
  return {
    resource: resource?.resource ?? resourceOf(url),
    issuer,
    revocationEndpoint,
    scopes: computeScopeUnion(scopes, refresh)?.split(" ") ?? [],
  };
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
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const resourceMetadataUrl = resourceMetadata === undefined
    ? undefined
    : safeUrl(resourceMetadata, `The metadata URL that ${url.host} names`, url);
  const place = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
  // Without its query, which may hold a secret.
  const asked = discoverOAuthProtectedResourceMetadata(resourceOf(url), place, http.fetch);
  const found = await asked.catch((error) => {
    // The SDK throws a plain error where there is none, which is fine.
    if (error.constructor === Error) return undefined;
    throw asLoginError(error, `${url.host} returned invalid metadata of the server`);
  });
  if (found === undefined) return undefined;
  // Else a server could have us fetch a token that is good for another one.
  if (!checkResourceAllowed({ requestedResource: url, configuredResource: found.resource })) {
    throw loginError(
      `${url.host} identifies itself as another server, ${quoted(found.resource)}: a token for ` +
        "that server must not be sent here",
    );
  }
  return found;
}

async function resolveIssuer(http: OAuthHttp, named: string, at: URL) {
  let revocationEndpoint: string | undefined;
  const fetchFn = async (input: string | URL, init?: RequestInit) => {
    const response = await http.fetch(input, init);
    if (!response.ok) return response;
    const raw = Raw.parse(await response.clone().json());
    for (const [key, what] of Object.entries(ENDPOINTS)) {
      const endpoint = raw[key];
      if (endpoint !== undefined) safeUrl(String(endpoint), `The ${what} of ${at.host}`, at);
    }
    // Read here because the SDK leaves it out of the metadata of an OpenID provider.
    const { revocation_endpoint: revocation } = raw;
    revocationEndpoint = typeof revocation === "string" ? revocation : undefined;
    return response;
  };
  const issuer = await discoverAuthorizationServerMetadata(named, { fetchFn }).catch((error) => {
    if (!(error instanceof IssuerMismatchError)) {
      throw asLoginError(error, `${at.host} returned invalid authorization server metadata`);
    }
    throw loginError(
      `The authorization server at ${at.href} identifies itself as another one, ` +
        `${quoted(String(error.received))}: it may be an impostor`,
    );
  });
  if (issuer === undefined) {
    throw loginError(
      `Cannot find out how to log in: ${at.origin} has no authorization server metadata`,
      ["If the server accepts an API key, add it as a header in its entry", "Or ask its operator"],
    );
  }
  if (!issuer.code_challenge_methods_supported?.includes("S256")) {
    throw loginError(
      `The authorization server ${at.host} does not support PKCE with S256, without which someone ` +
        "else could use the authorization code of a login",
      ["Ask its operator to enable PKCE"],
    );
  }
  return { issuer, revocationEndpoint };
}
