import { scopeWords } from "../auth/scope_words.ts";
import type { Gateway } from "../compose.ts";
import { CallLimit, type Right } from "../core/access.ts";
import type { AuditAsker } from "../core/audit.ts";
import { GatewayError } from "../core/errors.ts";
import { ownerOf } from "../core/principal.ts";
import type { CallMode } from "../core/server.ts";
import type { NewToken, ShownToken } from "../surfaces/access_admin.ts";
import { isStricter } from "../surfaces/call_control/server_rules.ts";
import { type FormError, formError } from "./form_error.ts";
import { type ClientSnippet, tokenSnippets } from "./security_snippets.ts";
import {
  previewToken,
  readTokenWords,
  tokenOf,
  type TokenPreview,
  type TokenWords,
} from "./security_token_form.ts";

export interface TokenRow {
  id: string;
  name: string;
  rights: Right[];
  /** What it admits, in words. */
  scope: string;
  project?: string;
  /** How much it may call, in words. */
  limit?: string;
  createdAt: number;
  lastUsedAt?: number;
  expiresAt?: number;
  isExpired: boolean;
  /** Clients that are connected by it. */
  sessions: number;
  /** Whether whoever looks at the page came in by it. */
  isOwn: boolean;
}

export interface TokensPage {
  isRequired: boolean;
  tokens: TokenRow[];
  projects: string[];
  words: TokenWords;
  /** Rights that whoever looks at the page has to give. */
  grantable: Right[];
  preview?: TokenPreview;
  /** Shown this once. */
  made?: { name: string; text: string; door: string; snippets: ClientSnippet[] };
  /** What is wrong with the name, said beside it. */
  nameProblem?: string;
  error?: FormError;
}

type TokensGateway = Pick<
  Gateway,
  "access" | "accessAdmin" | "address" | "doors" | "options" | "servers" | "toolsets"
>;

const NAMELESS = "Write a name: whose token it is, or what it is for";

/** Somebody who came in. */
type KnownAsker = AuditAsker & { principal: string };

/** The list, and the form with what was written in it so far. */
export async function tokensPage(
  gateway: TokensGateway,
  principal: string,
  form: URLSearchParams,
  error?: GatewayError,
): Promise<TokensPage> {
  const { access, accessAdmin } = gateway;
  const [tokens, projects] = await Promise.all([accessAdmin.tokens(), accessAdmin.projects()]);
  const words = readTokenWords(form);
  const counts = Map.groupBy(
    gateway.doors.host.sessions.list(),
    (session) => ownerOf(session.principal),
  );
  const preview = tryPreview(gateway, words, projects);
  const isNameless = error !== undefined && form.get("change") === "create" && words.name === "";
  const shown = error ?? ("problem" in preview ? preview.problem : undefined);
  return {
    isRequired: access.isRequired,
    tokens: tokens.map((token) =>
      rowOf(token, counts.get(`token:${token.id}`)?.length ?? 0, ownerOf(principal))
    ),
    projects: projects.map(({ name }) => name),
    words,
    grantable: grantableBy(gateway, principal),
    ...("preview" in preview ? { preview: preview.preview } : {}),
    ...(isNameless
      ? { nameProblem: NAMELESS }
      : shown === undefined
      ? {}
      : { error: formError(shown) }),
  };
}

/** Makes the token that the form asks for; its page is the only place its text is ever shown. */
export async function makeToken(
  gateway: TokensGateway,
  by: KnownAsker,
  form: URLSearchParams,
): Promise<TokensPage> {
  const { token, text } = await createToken(gateway, by, tokenOf(readTokenWords(form)));
  const page = await tokensPage(gateway, by.principal, new URLSearchParams());
  const { door, snippets } = tokenSnippets(gateway, text);
  return { ...page, made: { name: token.name, text, door, snippets } };
}

/** Nobody gives what they do not have: a token could else make itself a mightier one. */
export async function createToken(
  { access, accessAdmin }: Pick<Gateway, "access" | "accessAdmin">,
  by: KnownAsker,
  written: NewToken,
): Promise<{ token: ShownToken; text: string }> {
  for (const right of written.scope.rights) {
    access.demand(by.principal, right, `To make a token that may ${right}`);
  }
  return await accessAdmin.createToken(withinReach(access, by.principal, written), by);
}

/** It ends no later than its maker's own, and may call no more. */
function withinReach(
  access: Pick<Gateway["access"], "endOf" | "limitOf">,
  maker: string,
  { expiresAt, limit, ...written }: NewToken,
): NewToken {
  const [end, own] = [access.endOf(maker), access.limitOf(maker)];
  const least = (a: number | undefined, b: number | undefined) =>
    a === undefined ? b : b === undefined ? a : Math.min(a, b);
  const capped = {
    perMinute: least(limit?.perMinute, own?.perMinute),
    concurrent: least(limit?.concurrent, own?.concurrent),
    mode: stricterOf(limit?.mode, own?.mode),
  };
  const kept = Object.fromEntries(
    Object.entries(capped).filter(([, value]) => value !== undefined),
  );
  const latest = least(expiresAt, end);
  return {
    ...written,
    ...(latest === undefined ? {} : { expiresAt: latest }),
    ...(Object.keys(kept).length === 0 ? {} : { limit: CallLimit.parse(kept) }),
  };
}

function stricterOf(a: CallMode | undefined, b: CallMode | undefined): CallMode | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return isStricter(a, b) ? a : b;
}

function grantableBy({ access }: Pick<Gateway, "access">, principal: string): Right[] {
  return [...access.grants(principal).rights];
}

function tryPreview(
  gateway: TokensGateway,
  words: TokenWords,
  projects: Parameters<typeof previewToken>[2],
): { preview: TokenPreview } | { problem: GatewayError } {
  try {
    return { preview: previewToken(gateway, tokenOf(words), projects) };
  } catch (error) {
    if (error instanceof GatewayError) return { problem: error };
    throw error;
  }
}

function rowOf(token: ShownToken, sessions: number, owner: string): TokenRow {
  const { id, name, scope, project, limit, createdAt, lastUsedAt, expiresAt } = token;
  const limits = [
    ...(limit?.perMinute === undefined ? [] : [`${limit.perMinute} calls a minute`]),
    ...(limit?.concurrent === undefined ? [] : [`${limit.concurrent} at once`]),
    ...(limit?.mode === undefined ? [] : [`mode ${limit.mode}`]),
  ];
  return {
    id,
    name,
    rights: scope.rights,
    scope: scopeWords(scope),
    ...(project === undefined ? {} : { project }),
    ...(limits.length === 0 ? {} : { limit: limits.join(", ") }),
    createdAt,
    ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    isExpired: expiresAt !== undefined && expiresAt <= Date.now(),
    sessions,
    isOwn: owner === `token:${id}`,
  };
}
