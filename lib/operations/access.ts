import * as z from "zod";
import {
  AccessScope,
  CallLimit,
  type NewToken,
  ProjectName,
  stricterLimit,
} from "../core/access.ts";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { didYouMean, nearestNames } from "../core/text.ts";
import { ShownProject, ShownToken, WrittenProject } from "./access_admin.ts";
import { fieldHints } from "./fields.ts";
import { MANAGES, operation, READS_GUARDED } from "./operation.ts";
import type { Services } from "./services.ts";

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
const MOST_MS = 3_650 * UNITS_MS.d;

const Patterns = "names or patterns; * matches any text, a leading ! excludes";
const patterns = (noun: "servers" | "toolsets" | "tools") =>
  AccessScope.shape[noun].describe(`Only these ${noun}: ${Patterns}`)
    .register(fieldHints, { placeholder: "P,..." });
const NewName = z.string().trim().min(1).max(80).describe("Who or what the token is for");
const KnownProject = ProjectName.describe("Project name").register(fieldHints, {
  completes: "project",
});
const Servers = z.array(z.string()).min(1).describe("Server names")
  .register(fieldHints, { completes: "server" });

/** What anybody writes to create a token; stored tokens are AccessToken. */
export const TokenInput = z.strictObject({
  name: NewName,
  rights: AccessScope.shape.rights.default(["read", "call"])
    .describe("Rights: read, call, manage, optimize")
    .register(fieldHints, { placeholder: "A,B" }),
  servers: patterns("servers"),
  toolsets: patterns("toolsets"),
  tools: patterns("tools"),
  project: KnownProject.optional().describe("Limit the token to this project"),
  ...CallLimit.shape,
  expires: z.string().optional().describe(
    "Lifetime, such as 90m, 12h, 30d or 4w (default: never expires)",
  )
    .register(fieldHints, { placeholder: "TIME" }),
  expiresAt: z.int().optional().describe("When it expires, in ms since the epoch")
    .register(fieldHints, { isHidden: true }),
});
export type TokenInput = z.infer<typeof TokenInput>;

const listTokens = operation({
  ...READS_GUARDED,
  name: "token.list",
  title: "List tokens",
  description: "List access tokens with their rights, last use and expiration.",
  input: z.strictObject({}),
  output: z.object({ tokens: z.array(ShownToken) }),
  cli: "token list",
  run: async ({ accessAdmin }) => ({ tokens: await accessAdmin.tokens() }),
});

const createToken = operation({
  ...MANAGES,
  name: "token.create",
  title: "Create a token",
  description: "Create an access token for a client or a browser. The token is shown only once.",
  input: TokenInput,
  output: z.object({ token: ShownToken, text: z.string() }),
  cli: "token create",
  async run({ access, accessAdmin }, input, call) {
    const written = newToken(input);
    // Nobody grants what they do not have: a token could otherwise create a stronger one.
    for (const right of written.scope.rights) {
      access.demand(call.principal, right, `Creating a token that may ${right}`);
    }
    return await accessAdmin.createToken(withinReach(access, call.principal, written));
  },
});

const revokeToken = operation({
  ...MANAGES,
  name: "token.revoke",
  title: "Revoke a token",
  description: "Permanently revoke a token and end its sessions on every instance.",
  input: z.strictObject({
    token: z.string().describe("The token's name or id").register(fieldHints, {
      completes: "token",
    }),
  }),
  output: z.object({ revoked: ShownToken }),
  cli: "token revoke TOKEN",
  run: async ({ accessAdmin }, { token }) => ({ revoked: await accessAdmin.revokeToken(token) }),
  text: ({ revoked: { name, id } }) => `Revoked ${name} (${id}).`,
});

const listProjects = operation({
  ...READS_GUARDED,
  name: "project.list",
  title: "List projects",
  description: "List projects, their servers, and how many tokens are limited to each.",
  input: z.strictObject({}),
  output: z.object({ projects: z.array(ShownProject.extend({ tokens: z.int() })) }),
  cli: "project list",
  async run({ accessAdmin }) {
    const [all, tokens] = await Promise.all([accessAdmin.projects(), accessAdmin.tokens()]);
    const projects = all.map((project) => ({
      ...project,
      tokens: tokens.filter((token) => token.project === project.name).length,
    }));
    return { projects };
  },
});

const showProject = operation({
  ...READS_GUARDED,
  name: "project.show",
  title: "Show a project",
  description: "Show a project and its servers.",
  input: z.strictObject({ name: KnownProject }),
  output: z.object({ project: ShownProject }),
  run: async ({ accessAdmin }, { name }) => ({ project: await accessAdmin.resolveProject(name) }),
});

const createProject = operation({
  ...MANAGES,
  name: "project.create",
  title: "Create a project",
  description: "Create a project to group servers and limit tokens to them.",
  input: z.strictObject({
    name: z.string().trim().describe("Project name")
      .register(fieldHints, { completes: "nothing" }),
    description: z.string().trim().max(400).optional().describe("What the project is for")
      .register(fieldHints, { placeholder: "TEXT" }),
  }),
  output: z.object({ project: ShownProject }),
  cli: "project create NAME",
  run: async ({ accessAdmin }, input) => ({
    project: await accessAdmin.saveProject({ ...input, servers: [], versionstamp: null }),
  }),
  text: ({ project: { name } }) => `Created ${name}.`,
  next: ({ project: { name } }) => [
    { label: "Assign servers", operation: "project.assign", input: { name } },
  ],
});

const saveProject = operation({
  ...MANAGES,
  name: "project.save",
  title: "Save a project",
  description: "Create a project, or replace its description and servers.",
  input: WrittenProject,
  output: z.object({ project: ShownProject }),
  run: async ({ accessAdmin }, input) => ({ project: await accessAdmin.saveProject(input) }),
  text: ({ project: { name } }) => `Saved ${name}.`,
});

const assign = operation({
  ...MANAGES,
  name: "project.assign",
  title: "Assign servers to a project",
  description: "Assign servers to a project. A server in a project belongs only to its projects.",
  input: z.strictObject({ name: KnownProject, servers: Servers }),
  output: z.object({ project: ShownProject }),
  cli: "project assign NAME SERVER...",
  async run({ accessAdmin, admin }, { name, servers }) {
    const project = await accessAdmin.resolveProject(name);
    // A mistyped name would leave the server that is meant in every project.
    const known = admin.list().map(({ name }) => name);
    for (const server of servers) if (!known.includes(server)) throw noServer(server, known);
    const change = { ...project, servers: [...project.servers, ...servers] };
    return { project: await accessAdmin.saveProject(change) };
  },
  text: ({ project }) => serversText(project),
});

const unassign = operation({
  ...MANAGES,
  name: "project.unassign",
  title: "Remove servers from a project",
  description: "Remove servers from a project. A server in no project belongs to all projects.",
  input: z.strictObject({ name: KnownProject, servers: Servers }),
  output: z.object({ project: ShownProject }),
  cli: "project unassign NAME SERVER...",
  async run({ accessAdmin }, { name, servers }) {
    const project = await accessAdmin.resolveProject(name);
    const stranger = servers.find((server) => !project.servers.includes(server));
    if (stranger !== undefined) {
      throw new GatewayError("NOT_FOUND", {
        message: `Server "${stranger.slice(0, 80)}" is not assigned to ${name}`,
        recoverySteps: [serversText(project)],
      });
    }
    const left = project.servers.filter((server) => !servers.includes(server));
    return { project: await accessAdmin.saveProject({ ...project, servers: left }) };
  },
  text: ({ project }) => serversText(project),
});

const deleteProject = operation({
  ...MANAGES,
  name: "project.delete",
  title: "Delete a project",
  description: "Delete a project. Its servers stay. Fails if tokens are limited to it.",
  input: z.strictObject({ name: KnownProject }),
  output: z.object({ deleted: z.string() }),
  cli: "project delete NAME",
  async run({ accessAdmin }, { name }) {
    await accessAdmin.deleteProject(name);
    return { deleted: name };
  },
  text: ({ deleted }) => `Deleted ${deleted}.`,
});

export const ACCESS_OPERATIONS = {
  listTokens,
  createToken,
  revokeToken,
  listProjects,
  showProject,
  createProject,
  saveProject,
  assign,
  unassign,
  deleteProject,
};

/** The token that an input describes; throws INVALID_ARGUMENTS for a time that makes no sense. */
export function newToken(input: TokenInput, now = Date.now()): NewToken {
  const { name, rights, servers, toolsets, tools, project, expires, expiresAt, ...limits } = input;
  return {
    name,
    scope: { rights: [...new Set(rights)], servers, toolsets, tools },
    ...defined({
      project,
      limit: stricterLimit(limits, undefined),
      expiresAt: expires === undefined ? expiresAt : now + readSpan(expires),
    }),
  };
}

/** `30d` and the like, in ms. */
function readSpan(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text.trim()) ?? [];
  const ms = Number(count) * (UNITS_MS[unit as keyof typeof UNITS_MS] ?? 0);
  if (ms > 0 && ms <= MOST_MS) return ms;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Invalid value for expires: ${JSON.stringify(text.slice(0, 40))}`,
    recoverySteps: ["Use a time such as 90m, 12h, 30d or 4w, at most ten years"],
  });
}

/** A token ends no later than its maker's own, and may call no more. */
function withinReach(
  access: Services["access"],
  maker: string,
  { expiresAt, limit, ...written }: NewToken,
): NewToken {
  const ends = [expiresAt, access.endOf(maker)].filter((end) => end !== undefined);
  return {
    ...written,
    ...defined({
      expiresAt: ends.length === 0 ? undefined : Math.min(...ends),
      limit: stricterLimit(limit, access.limitOf(maker)),
    }),
  };
}

function noServer(name: string, known: string[]): GatewayError {
  const near = nearestNames(name, known);
  return new GatewayError("SERVER_NOT_FOUND", {
    message: `There is no server "${name.slice(0, 80)}"`,
    next: [{ label: "See all servers", operation: "server.list" }],
    ...didYouMean(near),
  });
}

function serversText({ name, servers }: ShownProject): string {
  return servers.length === 0
    ? `No server is assigned to ${name}.`
    : `${name} has ${servers.join(", ")}.`;
}
