import {
  type AuthorizationServerMetadata,
  registerClient,
  selectClientAuthMethod,
} from "@modelcontextprotocol/client";
import { isLoopback } from "../../config/address.ts";
import { ClientAuth, type Login } from "../../storage/logins_repository.ts";
import { loginError, type OAuthHttp } from "./oauth_http.ts";
import { failureText } from "./token_request.ts";

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
  const { issuer, given, documentUrl } = options;
  if (given !== undefined) {
    return {
      clientId: given.id,
      clientSecret: given.secret,
      clientAuth: authFor(issuer, given),
      clientOrigin: "given",
    };
  }
  if (issuer.client_id_metadata_document_supported && documentUrl !== undefined) {
    return { clientId: documentUrl, clientAuth: "none", clientOrigin: "document" };
  }
  if (issuer.registration_endpoint !== undefined) return await register(http, options);
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
): Promise<ClientIdentity> {
  const methods = issuer.token_endpoint_auth_methods_supported ?? ["none"];
  const wanted = methods.includes("none") ? "none" : authFor(issuer, { id: "", secret: "" });
  const registered = await registerClient(issuer.issuer, {
    metadata: issuer,
    clientMetadata: clientMetadata(redirectUri, wanted),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    fetchFn: http.fetch,
  }).catch(async (error) => {
    const { host } = new URL(issuer.registration_endpoint ?? issuer.issuer);
    throw loginError(
      `Cannot register this gateway as a client at ${host}: ${await failureText(error)}`,
      [
        "Create a client there manually, and log in with its id (--client-id)",
        "Or ask the operator of the authorization server",
      ],
    );
  });
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = registered;
  const clientAuth = authFor(issuer, { id, secret, method });
  return { clientId: id, clientSecret: secret, clientAuth, clientOrigin: "registered" };
}

/** How we show who we are, of the ways that are offered. */
function authFor(
  { token_endpoint_auth_methods_supported: methods = [] }: AuthorizationServerMetadata,
  { id, secret, method }: { id: string; secret?: string | undefined; method?: string | undefined },
): ClientAuth {
  const client = { client_id: id, client_secret: secret, token_endpoint_auth_method: method };
  const auth = ClientAuth.parse(selectClientAuthMethod(client, methods));
  // Without a secret there is nothing to show.
  return secret === undefined ? "none" : auth;
}
