import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { readTexts } from "./fields.ts";
import { type ApiRequest, fileResponse, readJson } from "./http.ts";
import { flatJob } from "./jobs.ts";
import { type FileOutput, parseInput, runOperation } from "./operation.ts";

interface Given {
  params: Record<string, string>;
  query: URLSearchParams;
  json: unknown;
  /** The JSON as an object. */
  body: Record<string, unknown>;
  /** The parameters of the query and the path that the operation knows; others were ignored. */
  known: Record<string, unknown>;
}

interface Answering {
  run(operation: string, input: unknown): Promise<unknown>;
  params: Record<string, string>;
  /** What the operation says of its outcome. */
  text: string;
}

interface OldPath {
  /** Its name, or how the body or the query decides on it. */
  operation: string | ((body: unknown, query: URLSearchParams) => string);
  /** Default: what is known of the query for GET, else the body, and the path's parameters. */
  input?(given: Given): unknown;
  /** The response as it was. */
  answer?(output: never, answering: Answering): unknown;
  status?: number;
}

const ConsentDecision = z.strictObject({ decision: z.enum(["approve", "refuse"]) });
const Switch = z.strictObject({ enabled: z.boolean() });
const MAX_TEXT = 500;
const TOOL = "/api/optimization/tools/:server/:tool";

/** One member of the output. */
type Answer = NonNullable<OldPath["answer"]>;
const only = (key: string): Answer => (output: Record<string, unknown>) => (
  { [key]: output[key] }
);
const outcome: Answer = (_, { text }) => ({ done: text.replace(/\.$/, "") });
const toolset: Answer = async (
  output: { toolset: { name: string } },
  { run, params },
) => {
  const name = params.name ?? output.toolset.name;
  // A caller that may not read gets what the change itself returns.
  const shown = await run("toolset.show", { name }).catch(() => output);
  return { toolset: (shown as typeof output).toolset };
};
/** Older queries have the text as `q` too, and of any length. */
const callFilter: NonNullable<OldPath["input"]> = ({ query, known: { text: _, ...others } }) => {
  const text = (query.get("q") ?? query.get("text") ?? "").trim().slice(0, MAX_TEXT);
  return { ...others, ...(text === "" ? {} : { text }) };
};
const job: NonNullable<OldPath["input"]> = ({ json }) => flatJob(json);
const fromPath: NonNullable<OldPath["input"]> = ({ params }) => params;

/** The requests that the API took before its paths were the names of operations; for one version. */
export const OLD_PATHS: Record<string, string | OldPath> = {
  "GET /api/status": "status.show",
  "GET /api/tools": "tool.list",
  "GET /api/search": {
    operation: "tool.search",
    input: ({ query, known }) => ({ ...known, query: query.get("q") ?? "" }),
  },
  "GET /api/servers": "server.list",
  "POST /api/servers": {
    operation: "server.add",
    input: ({ query, body }) => ({ ...body, check: query.get("check") !== "false" }),
    status: 201,
  },
  "GET /api/servers/:name": "server.show",
  "PUT /api/servers/:name": "server.update",
  "DELETE /api/servers/:name": { operation: "server.remove", answer: only("removed") },
  "POST /api/servers/:name/restart": { operation: "server.restart", input: fromPath },
  "POST /api/servers/:name/pause": { operation: "server.pause", input: fromPath },
  "POST /api/servers/:name/resume": { operation: "server.resume", input: fromPath },
  "POST /api/servers/:name/repair": { operation: "server.repair", input: fromPath },
  "GET /api/servers/:name/logs": {
    operation: "server.logs",
    input: ({ known }) => ({ lines: 100, ...known }),
  },
  "GET /api/servers/:server/tools": "server.tools",
  "PUT /api/servers/:server/tools": {
    operation: "server.set_tools",
    input: ({ params, body }) => ({ ...params, tools: body.enabled }),
  },
  "GET /api/servers/:name/login": "server.login_status",
  "POST /api/servers/:name/login": { operation: "server.login", status: 201 },
  "DELETE /api/servers/:name/login": "server.logout",
  "GET /api/servers/:server/history": "server.history",
  "GET /api/toolsets": "toolset.list",
  "POST /api/toolsets": { operation: "toolset.create", answer: toolset, status: 201 },
  "GET /api/toolsets/:name": { operation: "toolset.show", answer: only("toolset") },
  "PUT /api/toolsets/:name": "toolset.update",
  "DELETE /api/toolsets/:name": "toolset.delete",
  "POST /api/toolsets/:name/equip": { operation: "toolset.equip", answer: toolset },
  "GET /api/equipped": {
    operation: "toolset.active",
    answer: ({ toolset, tools }: { toolset: object | null; tools: unknown }) => (
      { toolset: toolset && { ...toolset, tools } }
    ),
  },
  "DELETE /api/equipped": "toolset.unequip",
  "GET /api/exchange/toolsets": {
    operation: "toolset.export",
    input: ({ query }) => ({ names: query.getAll("name") }),
  },
  "POST /api/exchange/toolsets": {
    operation: "toolset.import",
    input: ({ query, json }) => ({
      file: JSON.stringify(json),
      replace: query.get("replace") === "true",
      dryRun: query.get("dryRun") === "true",
    }),
  },
  "GET /api/optimization": "optimization.status",
  "PUT /api/optimization/enabled": {
    operation: (body) =>
      parseInput({ name: "optimization.enable", input: Switch }, body).enabled
        ? "optimization.enable"
        : "optimization.disable",
    input: () => ({}),
  },
  "GET /api/optimization/report": {
    operation: "optimization.export",
    input: ({ query }) => ({ format: "json", ...Object.fromEntries(query) }),
  },
  "POST /api/optimization/estimate": {
    operation: "job.estimate",
    input: job,
    answer: (estimate) => ({ estimate }),
  },
  "GET /api/optimization/jobs": "job.list",
  "POST /api/optimization/jobs": {
    operation: "job.start",
    input: job,
    answer: only("job"),
    status: 201,
  },
  "GET /api/optimization/jobs/:jobId": { operation: "job.show", answer: only("job") },
  ...Object.fromEntries(
    ["pause", "resume", "cancel"].map((action) => [
      `POST /api/optimization/jobs/:jobId/${action}`,
      { operation: `job.${action}`, input: fromPath, answer: only("job") },
    ]),
  ),
  [`GET ${TOOL}`]: { operation: "optimization.show", answer: only("tool") },
  [`GET ${TOOL}/results`]: "optimization.results",
  [`POST ${TOOL}/candidates`]: {
    operation: "optimization.propose",
    answer: only("candidate"),
    status: 201,
  },
  [`POST ${TOOL}/candidates/generate`]: {
    operation: "optimization.generate_candidates",
    status: 201,
  },
  [`POST ${TOOL}/prompts`]: {
    operation: "optimization.save_prompts",
    input: ({ body: { replace, ...body }, params }) => (
      { mode: replace === true ? "replace" : "merge", ...body, ...params }
    ),
    status: 201,
  },
  [`POST ${TOOL}/prompts/generate`]: { operation: "optimization.generate_prompts", status: 201 },
  [`PUT ${TOOL}/prompts/:id`]: "optimization.edit_prompt",
  [`DELETE ${TOOL}/prompts/:id`]: "optimization.retire_prompt",
  [`POST ${TOOL}/runs`]: {
    operation: "optimization.record",
    answer: ({ warnings: _, ...run }: Record<string, unknown>) => ({ run }),
    status: 201,
  },
  ...Object.fromEntries(
    ["promote", "revert", "keep"].map((action) => [
      `POST ${TOOL}/${action}`,
      { operation: `optimization.${action}`, answer: only("promotion") },
    ]),
  ),
  "GET /api/tokens": "token.list",
  "POST /api/tokens": {
    operation: "token.create",
    input: ({ body: { limit, ...token } }) => ({ ...token, ...Object(limit) }),
    status: 201,
  },
  "DELETE /api/tokens/:id": {
    operation: "token.revoke",
    input: ({ params }) => ({ token: params.id }),
  },
  "GET /api/projects": "project.list",
  "GET /api/projects/:name": "project.show",
  "PUT /api/projects/:name": "project.save",
  "DELETE /api/projects/:name": "project.delete",
  "GET /api/secrets": "secret.list",
  "PUT /api/secrets/:name": "secret.set",
  "DELETE /api/secrets/:name": {
    operation: "secret.delete",
    input: ({ params, query }) => ({ ...params, force: query.get("force") === "true" }),
  },
  "GET /api/review": {
    operation: (_, query) =>
      query.get("server") && query.get("tool") ? "review.show" : "review.list",
    input: ({ query }) => {
      const [server, tool] = [query.get("server"), query.get("tool")];
      return server ? { server, ...(tool ? { tool } : {}) } : {};
    },
    answer: (output: object) => ({ more: 0, ...output }),
  },
  ...Object.fromEntries(
    ["approve", "reject", "revert", "waive"].map((action) => [
      `POST /api/review/${action}`,
      { operation: `review.${action}`, answer: outcome },
    ]),
  ),
  "POST /api/review/unwaive": {
    operation: "review.waive",
    input: ({ body }) => ({ ...body, undo: true }),
    answer: outcome,
  },
  "POST /api/review/policy": {
    operation: "review.policy",
    answer: ({ server, policy }: { server: string; policy: string }) => (
      { done: `Changes of ${server}: ${policy}` }
    ),
  },
  "GET /api/consents": "consent.list",
  "POST /api/consents/:id": {
    operation: (body) =>
      `consent.${parseInput({ name: "consent", input: ConsentDecision }, body).decision}`,
    input: fromPath,
  },
  "GET /api/approvals": "approval.list",
  "POST /api/approvals/:id": { operation: "approval.decide", answer: outcome },
  "PUT /api/approvals/modes/:toolset": { operation: "toolset.mode", answer: outcome },
  "GET /api/audit": {
    operation: "audit.list",
    input: ({ known }) => ({ limit: 100, ...known }),
  },
  "GET /api/audit/export": "audit.export",
  "GET /api/audit/verify": "audit.verify",
  "GET /api/activity": { operation: "activity.list", input: callFilter },
  "GET /api/activity/export": { operation: "activity.export", input: callFilter },
  "GET /api/activity/:id": "activity.show",
};

/** Answers a request in an older form; undefined if it is none. */
export async function answerOldPath(api: ApiRequest): Promise<Response | undefined> {
  const { request, services, operations, call, maxBytes } = api;
  for (const [key, entry] of Object.entries(OLD_PATHS)) {
    const old = typeof entry === "string" ? { operation: entry } as OldPath : entry;
    const [method, pathname = ""] = key.split(" ");
    if (method !== (request.method === "HEAD" ? "GET" : request.method)) continue;
    const match = new URLPattern({ pathname }).exec(request.url);
    if (!match) continue;
    const params = Object.fromEntries(
      Object.entries(match.pathname.groups).map(([key, value]) => [key, decoded(value ?? "")]),
    );
    const query = new URL(request.url).searchParams;
    const json = method === "GET" ? {} : await readJson(request, maxBytes);
    const body: Record<string, unknown> = typeof json === "object" && json !== null
      ? { ...json }
      : {};
    const name = typeof old.operation === "string" ? old.operation : old.operation(json, query);
    const operation = operations.get(name)!;
    const texts = [...query].filter(([name]) => name in operation.input.shape);
    const known = { ...readTexts(operation.input, texts), ...params };
    const input = old.input?.({ params, query, json, body, known }) ??
      (method === "GET" ? known : { ...body, ...params });
    const run = (name: string, input: unknown) =>
      runOperation(operations.get(name)!, services, input, call);
    const output = await run(name, input);
    if ("file" in operation.output) return fileResponse(output as FileOutput);
    const text = operation.text?.(output, input as Record<string, unknown>) ?? "";
    const answer = await (old.answer?.(output as never, { run, params, text }) ?? output);
    return Response.json(answer, { status: old.status ?? 200 });
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new GatewayError("INVALID_ARGUMENTS", { message: "The path is not valid UTF-8" });
  }
}
