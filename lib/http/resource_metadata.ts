import { ScopeMissing, SCOPES, USUAL_SCOPES } from "../auth/oauth_scopes.ts";
import type { RefusedRequest } from "../auth/access.ts";
import type { Options } from "../config/option_table.ts";
import { GatewayError } from "../core/errors.ts";
import { parseEndpoint } from "./endpoint_path.ts";

/** Where a client looks for it, followed by the endpoint's own path (RFC 9728). */
export const METADATA_PATH = "/.well-known/oauth-protected-resource";

interface ResourceMetadataOptions {
  /** The gateway's own. */
  address: string;
  /** Where people get their tokens. */
  issuer: string;
}

/** Tells clients where to get a token for the gateway, or for one of its endpoints. */
export class ResourceMetadata {
  readonly #options: ResourceMetadataOptions;

  constructor(options: ResourceMetadataOptions) {
    this.#options = options;
  }

  /** Undefined without an identity provider, or if the gateway does not listen. */
  static of(
    { oauthIssuer: issuer }: Pick<Options, "oauthIssuer">,
    address: string,
  ): ResourceMetadata | undefined {
    if (issuer === undefined || address === "") return undefined;
    return new ResourceMetadata({ address, issuer });
  }

  /** Throws NOT_FOUND where no endpoint is named. It says the same of endpoints that lead nowhere. */
  answer(pathname: string): Response {
    const { address, issuer } = this.#options;
    const path = pathname.slice(METADATA_PATH.length);
    if (path !== "" && !parseEndpoint(`${address}${path}`)) throw noMetadata();
    return Response.json({
      resource: `${address}${path}`,
      resource_name: "Quartermaster",
      authorization_servers: [issuer],
      scopes_supported: SCOPES,
      bearer_methods_supported: ["header"],
    });
  }

  /** The value of WWW-Authenticate for a request that was refused (RFC 6750). */
  challenge(request?: RefusedRequest, error?: unknown): string {
    const isEndpoint = request !== undefined && parseEndpoint(request.url) !== undefined;
    const path = isEndpoint ? new URL(request.url).pathname : "";
    const isMissing = error instanceof ScopeMissing;
    const kind = isMissing
      ? "insufficient_scope"
      : (request?.headers.get("authorization") ?? null) !== null
      ? "invalid_token"
      : undefined;
    const reason = error instanceof Error ? error.message : "The token is not accepted";
    const fields = {
      resource_metadata: `${this.#options.address}${METADATA_PATH}${path}`,
      scope: (isMissing ? error.scopes : USUAL_SCOPES).join(" "),
      ...(kind === undefined ? {} : { error: kind, error_description: reason }),
    };
    return `Bearer ${
      Object.entries(fields).map(([name, text]) => `${name}="${fit(text)}"`).join(", ")
    }`;
  }
}

export function noMetadata(): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message: "There is no OAuth resource metadata at this path",
    recoverySteps: ["Check the endpoint's path, and whether --oauth-issuer is set"],
  });
}

/** What may stand in a quoted text of this header. */
function fit(text: string): string {
  return text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "'").slice(0, 500);
}
