import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  computeScopeUnion,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  IssuerMismatchError,
  type OAuthClientInformation,
  type OAuthProtectedResourceMetadata,
  registerClient,
  selectClientAuthMethod,
} from "@modelcontextprotocol/client";
import * as z from "zod";
import { isLoopback } from "../../config/address.ts";
import type { ClientAuth, Login } from "../../storage/logins_repository.ts";
import type { Challenge } from "../transports/http_errors.ts";
import { asLoginError, loginError, type OAuthHttp, quoted, safeUrl } from "./oauth_http.ts";
import { oauthErrorText } from "./token_request.ts";

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

type ClientIdentity = Pick<Login, "clientId" | "clientSecret" | "clientAuth" | "clientOrigin">;

interface IdentityOptions {
  issuer: AuthorizationServerMetadata;
  redirectUri: string;
  /** Where our own metadata can be read by others; undefined where nobody can reach us. */
  documentUrl?: string | undefined;
  given?: { id: string; secret?: string | undefined } | undefined;
  scopes: string[];
}

export function clientMetadata(redirectUri: string, auth: ClientAuth = "none") {
  return {
    client_name: "Quartermaster",
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: auth,
    // Else OpenID providers refuse an http address on this machine.
    application_type: isLoopback(new URL(redirectUri).hostname) ? "native" : "web",
  };
}

/** A client id that was given, else our metadata document, else one that we register for. */
export async function identify(http: OAuthHttp, options: IdentityOptions): Promise<ClientIdentity> {
  const { issuer, given, documentUrl, redirectUri } = options;
  const methods = issuer.token_endpoint_auth_methods_supported ?? [];
  const identity = (client: OAuthClientInformation, clientOrigin: Login["clientOrigin"]) => ({
    clientId: client.client_id,
    clientSecret: client.client_secret,
    clientAuth: selectClientAuthMethod(client, methods),
    clientOrigin,
  });
  if (given) return identity({ client_id: given.id, client_secret: given.secret }, "given");
  if (issuer.client_id_metadata_document_supported && documentUrl !== undefined) {
    return { clientId: documentUrl, clientAuth: "none", clientOrigin: "document" };
  }
  const { host } = new URL(issuer.registration_endpoint ?? issuer.issuer);
  if (issuer.registration_endpoint === undefined) {
    throw loginError(`The authorization server ${host} does not support client registration`, [
      `Create a client there with the redirect URL ${redirectUri}`,
      "Then log in with its id: `quartermaster server login NAME --client-id ID`, or in the console",
    ]);
  }
  // A secret is of use only where one has to be shown.
  const wanted = methods.length === 0 || methods.includes("none")
    ? "none"
    : selectClientAuthMethod({ client_id: "", client_secret: "" }, methods);
  const registered = await registerClient(issuer.issuer, {
    metadata: issuer,
    clientMetadata: clientMetadata(redirectUri, wanted),
    ...(options.scopes.length === 0 ? {} : { scope: options.scopes.join(" ") }),
    fetchFn: http.fetch,
  }).catch(async (error) => {
    throw loginError(
      `Cannot register this gateway as a client at ${host}: ${await oauthErrorText(error)}`,
      [
        "Create a client there manually, and log in with its id (--client-id)",
        "Or ask the operator of the authorization server",
      ],
    );
  });
  return identity(registered, "registered");
}
