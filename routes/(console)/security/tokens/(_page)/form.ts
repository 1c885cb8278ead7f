import { Access } from "../../../../../lib/auth/access.ts";
import type { Gateway } from "../../../../../lib/gateway.ts";
import {
  inProject,
  type NewToken,
  type Project,
  type Right,
  RIGHTS,
} from "../../../../../lib/core/access.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import { TokenInput } from "../../../../../lib/operations/access.ts";
import { fieldsOf, readTexts } from "../../../../../lib/operations/fields.ts";

const MOST_NAMES = 12;
const PATTERNS: ReadonlySet<string> = new Set(["servers", "toolsets", "tools"]);

/** Text fields of the form; empty: not limited. */
const TEXTS = [
  "name",
  "servers",
  "toolsets",
  "tools",
  "project",
  "expires",
  "perMinute",
  "concurrent",
  "mode",
] as const;

export type TokenFields = Record<typeof TEXTS[number], string> & { rights: Right[] };

export interface TokenPreview {
  servers: { name: string; admitted: number; all: number; tools: string[]; more: number }[];
  toolsets: string[];
  tools: number;
}

export function readTokenFields(form: URLSearchParams): TokenFields {
  const texts = Object.fromEntries(TEXTS.map((name) => [name, form.get(name)?.trim() ?? ""]));
  const rights = RIGHTS.filter((right) => form.getAll("right").includes(right));
  return {
    ...texts as Record<typeof TEXTS[number], string>,
    rights: form.has("filled") ? rights : ["read", "call"],
  };
}

/** The operation's input; throws INVALID_ARGUMENTS with the field that is wrong. */
export function tokenInput({ rights, ...texts }: TokenFields): TokenInput {
  const fields = Object.entries(texts).flatMap(([name, text]): [string, string][] =>
    PATTERNS.has(name)
      ? [...new Set(text.split(/[\s,]+/))].map((pattern) => [name, pattern])
      : [[name, text]]
  );
  const parsed = TokenInput.safeParse({
    ...readTexts(TokenInput, fields.filter(([, text]) => text !== "")),
    name: texts.name,
    rights,
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = fieldsOf(TokenInput).find(({ name }) => name === issue?.path[0]);
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `${field?.description ?? field?.name ?? "The form"}: ${issue?.message}`,
    recoveryAction: "Correct it and submit again",
  });
}

/** Asks the very rules that the token will go by. */
export function previewToken(
  gateway: Pick<Gateway, "servers" | "toolsets">,
  { scope, project }: Pick<NewToken, "scope" | "project">,
  projects: readonly Project[],
): TokenPreview {
  const access = new Access({ isRequired: true });
  const id = "previewed";
  access.load([{ id, name: id, hash: "0".repeat(64), scope, createdAt: 0 }], projects);
  const principal = inProject(`token:${id}`, project);
  const servers = gateway.servers.list().map(({ name }) => name)
    .filter((name) => access.admitsServer(principal, name)).sort()
    .map((name) => {
      const all = gateway.servers.tools(name).map((tool) => tool.name);
      const tools = all.filter((tool) => access.admits(principal, { server: name, name: tool }));
      return {
        name,
        all: all.length,
        admitted: tools.length,
        tools: tools.slice(0, MOST_NAMES),
        more: Math.max(0, tools.length - MOST_NAMES),
      };
    });
  const toolsets = gateway.toolsets.toolsets.list().map(({ name }) => name)
    .filter((name) => access.admitsToolset(principal, name)).sort();
  return { servers, toolsets, tools: servers.reduce((sum, { admitted }) => sum + admitted, 0) };
}
