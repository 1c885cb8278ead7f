import { z } from "zod";
import { Access } from "../auth/access.ts";
import type { Gateway } from "../compose.ts";
import {
  AccessScope,
  CallLimit,
  Pattern,
  type Project,
  ProjectName,
  type Right,
  RIGHTS,
} from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { inProject } from "../core/principal.ts";
import { CallMode } from "../core/server.ts";
import type { NewToken } from "../surfaces/access_admin.ts";

const DAY_MS = 86_400_000;
const MOST_DAYS = 3_650;
const MOST_NAMES = 12;

const Patterns = z.array(Pattern).min(1).max(200);

/** A token as a program asks for it. */
export const WrittenToken = z.strictObject({
  name: z.string(),
  rights: z.array(z.enum(RIGHTS)).min(1).default(["read", "call"]),
  servers: Patterns.optional(),
  toolsets: Patterns.optional(),
  tools: Patterns.optional(),
  project: ProjectName.optional(),
  limit: CallLimit.optional(),
  /** In ms since the epoch. */
  expiresAt: z.int().optional(),
});
export type WrittenToken = z.infer<typeof WrittenToken>;

/** What a person has written in the form, as it was written. */
export interface TokenWords {
  name: string;
  rights: Right[];
  servers: string;
  toolsets: string;
  tools: string;
  project: string;
  /** Days; empty for ever. */
  expires: string;
  perMinute: string;
  concurrent: string;
  /** Which calls it may make; empty for all. */
  mode: string;
}

/** What a token would admit, as things are. */
export interface TokenPreview {
  servers: { name: string; admitted: number; all: number; tools: string[]; more: number }[];
  toolsets: string[];
  tools: number;
}

type PreviewGateway = Pick<Gateway, "servers" | "toolsets">;

/** Reads the form; without a name for one that is only looked at. */
export function readTokenWords(form: URLSearchParams): TokenWords {
  const text = (name: string) => form.get(name)?.trim() ?? "";
  const isFilled = form.has("filled");
  const rights = RIGHTS.filter((right) => form.getAll("right").includes(right));
  return {
    name: text("name"),
    rights: isFilled ? rights : ["read", "call"],
    servers: text("servers"),
    toolsets: text("toolsets"),
    tools: text("tools"),
    project: text("project"),
    expires: text("expires"),
    perMinute: text("perMinute"),
    concurrent: text("concurrent"),
    mode: text("mode"),
  };
}

/** The token that is meant; throws INVALID_ARGUMENTS with the field that is wrong. */
export function tokenOf(words: TokenWords, now = Date.now()): NewToken {
  const perMinute = numberOf(words.perMinute, "Calls a minute", 1_000_000);
  const concurrent = numberOf(words.concurrent, "Calls at once", 10_000);
  const days = numberOf(words.expires, "Days", MOST_DAYS);
  if (words.rights.length === 0) throw invalid("A token needs at least one right");
  return newToken({
    name: words.name,
    rights: words.rights,
    ...patternsOf("servers", words.servers),
    ...patternsOf("toolsets", words.toolsets),
    ...patternsOf("tools", words.tools),
    ...(words.project === "" ? {} : { project: words.project }),
    limit: {
      ...(perMinute === undefined ? {} : { perMinute }),
      ...(concurrent === undefined ? {} : { concurrent }),
      ...(words.mode === "" ? {} : { mode: modeOf(words.mode) }),
    },
    ...(days === undefined ? {} : { expiresAt: now + days * DAY_MS }),
  });
}

export function newToken(written: WrittenToken): NewToken {
  const { name, rights, servers, toolsets, tools, project, limit, expiresAt } = written;
  const isLimited = [limit?.perMinute, limit?.concurrent, limit?.mode]
    .some((value) => value !== undefined);
  return {
    name,
    scope: AccessScope.parse({ rights: [...new Set(rights)], servers, toolsets, tools }),
    ...(project === undefined ? {} : { project }),
    ...(isLimited ? { limit } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** Asks the very rules that the token will go by. */
export function previewToken(
  gateway: PreviewGateway,
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

function patternsOf(field: "servers" | "toolsets" | "tools", text: string) {
  const patterns = [...new Set(text.split(/[\s,]+/).filter((word) => word !== ""))];
  if (patterns.length === 0) return {};
  const parsed = Patterns.safeParse(patterns);
  if (parsed.success) return { [field]: parsed.data };
  const wrong = patterns.find((pattern) => !Pattern.safeParse(pattern).success);
  throw invalid(
    wrong === undefined
      ? `There are more than 200 patterns for ${field}`
      : `"${
        wrong.slice(0, 80)
      }" is no pattern for ${field}: use names, with * for any text and ! before what is kept out`,
  );
}

function numberOf(text: string, what: string, most: number): number | undefined {
  if (text === "") return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
  throw invalid(`${what}: write a whole number from 1 to ${most}, or nothing`);
}

function modeOf(text: string): CallMode {
  const mode = CallMode.safeParse(text);
  if (mode.success) return mode.data;
  throw invalid(`Mode: "${text.slice(0, 40)}" is none of ${CallMode.options.join(", ")}`);
}

function invalid(message: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message,
    recoveryAction: "Correct it, and send the form again",
  });
}
