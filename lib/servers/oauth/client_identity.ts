import {
  type AuthorizationServerMetadata,
  type OAuthClientInformation,
  registerClient,
  selectClientAuthMethod,
} from "@modelcontextprotocol/client";
import { isLoopback } from "../../config/address.ts";
import type { ClientAuth, Login } from "../../storage/logins_repository.ts";
import { loginError, type OAuthHttp } from "./oauth_http.ts";
import { oauthErrorText } from "./token_request.ts";

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
