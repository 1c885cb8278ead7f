import type { Gateway } from "../../../../../lib/gateway.ts";
import { clientEndpointPath } from "../../../../../lib/config/clients.ts";
import { type ClientSnippet, clientSnippets } from "../../../../../lib/console/client_snippets.ts";
import { describeScope, RIGHT_MEANINGS } from "../../../../../lib/auth/grants.ts";
import { describeLimit, ownerOf, type Right, RIGHTS } from "../../../../../lib/core/access.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import { ACCESS_OPERATIONS, newToken } from "../../../../../lib/operations/access.ts";
import type { ShownToken } from "../../../../../lib/operations/access_admin.ts";
import { type OperationCall, runOperation } from "../../../../../lib/operations/operation.ts";
import type { Services } from "../../../../../lib/operations/services.ts";
import { type FormError, formError } from "../../../../../lib/console/errors.ts";
import {
  previewToken,
  readTokenFields,
  type TokenFields,
  tokenInput,
  type TokenPreview,
} from "./form.ts";

const ENDPOINT = { kind: "all", name: "" } as const;

export interface TokenRow extends Omit<ShownToken, "scope" | "limit"> {
  rights: Right[];
  scope: string;
  limit: string | undefined;
  isExpired: boolean;
  sessions: number;
  /** Whether whoever looks at the page signed in with it. */
  isOwn: boolean;
}

export interface TokensPage {
  isRequired: boolean;
  tokens: TokenRow[];
  projects: string[];
  /** Names to complete what is written. */
  names: Record<"servers" | "tools" | "toolsets", string[]>;
  fields: TokenFields;
  /** `isGrantable`: whoever looks at the page has it to give. */
  rights: { right: Right; meaning: string; isGrantable: boolean }[];
  preview: TokenPreview | undefined;
  /** Shown this once. */
  made?: { name: string; text: string; endpoint: string; snippets: ClientSnippet[] };
  nameProblem: string | undefined;
  error: FormError | undefined;
}

type TokensGateway = Pick<
  Gateway,
  "access" | "accessAdmin" | "address" | "endpoints" | "options" | "servers" | "toolsets"
>;

const NAMELESS = "Enter a name, such as the token's owner or purpose";

export async function tokensPage(
  gateway: TokensGateway,
  principal: string,
  form: URLSearchParams,
  error?: GatewayError,
): Promise<TokensPage> {
  const { access, accessAdmin } = gateway;
  const [tokens, projects] = await Promise.all([accessAdmin.tokens(), accessAdmin.projects()]);
  const fields = readTokenFields(form);
  const counts = Map.groupBy(
    gateway.endpoints.host.sessions.list(),
    (session) => ownerOf(session.principal),
  );
  const { preview, problem } = form.has("filled") ? tryPreview(gateway, fields, projects) : {};
  const isNameless = error !== undefined && form.get("change") === "create" && fields.name === "";
  const shown = isNameless ? undefined : error ?? problem;
  return {
    isRequired: access.isRequired,
    tokens: tokens.map((token) =>
      rowOf(token, counts.get(`token:${token.id}`)?.length ?? 0, ownerOf(principal))
    ),
    projects: projects.map(({ name }) => name),
    names: knownNames(gateway),
    fields,
    rights: RIGHTS.map((right) => ({
      right,
      meaning: RIGHT_MEANINGS[right],
      isGrantable: access.grants(principal).rights.has(right),
    })),
    preview,
    nameProblem: isNameless ? NAMELESS : undefined,
    error: shown && formError(shown),
  };
}

export async function makeToken(
  gateway: TokensGateway & Services,
  form: URLSearchParams,
  call: OperationCall,
): Promise<TokensPage> {
  const { createToken } = ACCESS_OPERATIONS;
  const input = tokenInput(readTokenFields(form));
  const { token, text } = await runOperation(createToken, gateway, input, call);
  const page = await tokensPage(gateway, call.principal, new URLSearchParams());
  const { address, options } = gateway;
  return {
    ...page,
    made: {
      name: token.name,
      text,
      endpoint: new URL(clientEndpointPath(ENDPOINT), address).href,
      snippets: await clientSnippets({ address, options }, ENDPOINT, text),
    },
  };
}

/** More than these help nobody to choose, and make the page large. */
const MOST_NAMES = 300;

function knownNames({ servers, toolsets }: TokensGateway): TokensPage["names"] {
  const names = servers.list().map(({ name }) => name);
  const tools = names.flatMap((server) => [
    `${server}.*`,
    ...servers.tools(server).map(({ name }) => `${server}.${name}`),
  ]);
  return {
    servers: names.slice(0, MOST_NAMES),
    tools: tools.slice(0, MOST_NAMES),
    toolsets: toolsets.toolsets.list().map(({ name }) => name).slice(0, MOST_NAMES),
  };
}

function tryPreview(
  gateway: TokensGateway,
  fields: TokenFields,
  projects: Parameters<typeof previewToken>[2],
): { preview?: TokenPreview; problem?: GatewayError } {
  try {
    const token = newToken(tokenInput({ ...fields, name: fields.name || "new" }));
    return { preview: previewToken(gateway, token, projects) };
  } catch (error) {
    if (error instanceof GatewayError) return { problem: error };
    throw error;
  }
}

function rowOf(token: ShownToken, sessions: number, owner: string): TokenRow {
  const { id, scope, limit, expiresAt = Infinity } = token;
  return {
    ...token,
    rights: scope.rights,
    scope: describeScope(scope),
    limit: describeLimit(limit).join(", ") || undefined,
    isExpired: expiresAt <= Date.now(),
    sessions,
    isOwn: owner === `token:${id}`,
  };
}
