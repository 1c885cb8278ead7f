import { z } from "zod";
import { isLoopback } from "../../config/address.ts";
import type { ClientAuth, Login } from "../../storage/logins_repository.ts";
import type { IssuerMetadata } from "./discovery.ts";
import { loginError, type OAuthHttp, safeUrl } from "./oauth_http.ts";
import { oauthErrorText } from "./token_request.ts";

export type ClientIdentity = Pick<
  Login,
  "clientId" | "clientSecret" | "clientAuth" | "clientOrigin"
>;

interface IdentityOptions {
  issuer: IssuerMetadata;
  redirectUri: string;
  /** Where our own metadata can be read by others; undefined where nobody can reach us. */
  documentUrl?: string | undefined;
  given?: { id: string; secret?: string | undefined } | undefined;
  scopes: string[];
}

const Registered = z.looseObject({
  client_id: z.string().min(1),
  client_secret: z.string().optional(),
  token_endpoint_auth_method: z.string().optional(),
});

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
export async function identify(
  http: OAuthHttp,
  options: IdentityOptions,
  signal: AbortSignal,
): Promise<ClientIdentity> {
  const { issuer, given, documentUrl } = options;
  if (given !== undefined) {
    return {
      clientId: given.id,
      clientSecret: given.secret,
      clientAuth: authFor(issuer, given.secret),
      clientOrigin: "given",
    };
  }
  if (issuer.client_id_metadata_document_supported && documentUrl !== undefined) {
    return { clientId: documentUrl, clientAuth: "none", clientOrigin: "document" };
  }
  if (issuer.registration_endpoint !== undefined) return await register(http, options, signal);
  throw loginError(
    `The authorization server ${new URL(issuer.issuer).host} does not support client registration`,
    [
      `Create a client there with the redirect URL ${options.redirectUri}`,
      "Then log in with its id: `quartermaster server login NAME --client-id ID`, or in the console",
    ],
  );
}

async function register(
  http: OAuthHttp,
  { issuer, redirectUri, scopes }: IdentityOptions,
  signal: AbortSignal,
): Promise<ClientIdentity> {
  const url = safeUrl(issuer.registration_endpoint ?? "", "The registration endpoint");
  const methods = issuer.token_endpoint_auth_methods_supported;
  const wanted = methods === undefined || methods.includes("none") ? "none" : authFor(issuer, "");
  const scope = scopes.length === 0 ? {} : { scope: scopes.join(" ") };
  const metadata = { ...clientMetadata(redirectUri, wanted), ...scope };
  const { status, body } = await http.post(url, metadata, {}, signal);
  const parsed = Registered.safeParse(body);
  if (status >= 300 || !parsed.success) {
    throw loginError(
      `${url.host} refused to register this gateway as a client: ${oauthErrorText(status, body)}`,
      [
        "Create a client there manually, and log in with its id (--client-id)",
        "Or ask the operator of the authorization server",
      ],
    );
  }
  const { client_id, client_secret, token_endpoint_auth_method: method } = parsed.data;
  return {
    clientId: client_id,
    clientSecret: client_secret,
    clientAuth: client_secret === undefined || method === "none"
      ? "none"
      : method === "client_secret_post" || method === "client_secret_basic"
      ? method
      : authFor(issuer, client_secret),
    clientOrigin: "registered",
  };
}

/** How we show who we are, of the ways that are offered; basic is what everybody must offer. */
function authFor(issuer: IssuerMetadata, secret: string | undefined): ClientAuth {
  if (secret === undefined) return "none";
  const methods = issuer.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic") || !methods.includes("client_secret_post")
    ? "client_secret_basic"
    : "client_secret_post";
}
