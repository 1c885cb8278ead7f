import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { readBody } from "../http/request_body.ts";
import { fieldHints, readTexts } from "./fields.ts";
import { type FileOutput, type Operation, type OperationCall, runOperation } from "./operation.ts";
import type { Services } from "./services.ts";

export interface ApiRequest {
  request: Request;
  services: Services;
  operations: ReadonlyMap<string, Operation>;
  call: OperationCall;
  maxBytes: number;
}

/** Answers `POST /api/{operation}`, and GET for those that only read. */
export async function answerOperation(name: string, api: ApiRequest): Promise<Response> {
  const { request, services, operations, call } = api;
  const operation = operations.get(name)!;
  const isGet = request.method === "GET" || request.method === "HEAD";
  if (isGet ? operation.effect !== "read" : request.method !== "POST") {
    return new Response(null, {
      status: 405,
      headers: { allow: operation.effect === "read" ? "GET, HEAD, POST" : "POST" },
    });
  }
  const input = await readInput(operation, api, isGet);
  const output = await runOperation(operation, services, input, call);
  return "file" in operation.output ? fileResponse(output) : Response.json(output ?? {});
}

async function readInput(
  { input, fileInput }: Operation,
  { request, maxBytes }: ApiRequest,
  isGet: boolean,
): Promise<unknown> {
  const { searchParams } = new URL(request.url);
  if (isGet) return readTexts(input, searchParams);
  if (!fileInput) return await readJson(request, maxBytes);
  const given = readTexts(input, searchParams);
  return { ...given, [fileInput.field]: await readText(request, fileInput.maxBytes) };
}

export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const text = await readText(request, maxBytes);
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    throw new GatewayError("INVALID_ARGUMENTS", { message: "The body is not valid JSON" });
  }
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  return new TextDecoder().decode(await readBody(request, maxBytes));
}

export function fileResponse({ fileName, contentType, body }: FileOutput): Response {
  return new Response(body, {
    headers: {
      "content-type": contentType,
      "content-disposition": `attachment; filename="${fileName.replaceAll(/[^\w.-]/g, "_")}"`,
      "cache-control": "no-store",
    },
  });
}

/** The API as an OpenAPI 3.1 document. */
export function openApi(operations: Iterable<Operation>, version: string) {
  const paths: Record<string, unknown> = {};
  for (const operation of operations) {
    const post = { operationId: operation.name, ...describe(operation), ...requestOf(operation) };
    const get = {
      operationId: `${operation.name}.get`,
      ...describe(operation),
      parameters: queryOf(operation),
    };
    paths[`/api/${operation.name}`] = operation.effect === "read" ? { get, post } : { post };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Quartermaster", version, description: "Operations of the gateway as JSON." },
    paths,
    components: {
      schemas: { Error: ERROR_SCHEMA },
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
    security: [{ token: [] }, {}],
  };
}

const ERROR_SCHEMA = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["errorType", "message", "recoveryAction", "recoverySteps"],
      properties: {
        errorType: { type: "string" },
        message: { type: "string" },
        recoveryAction: { type: "string" },
        recoverySteps: { type: "array", items: { type: "string" } },
        hint: { type: "string" },
      },
    },
    requestId: { type: "string" },
  },
};

function describe({ name, title, description, rights, output }: Operation) {
  const content = "file" in output
    ? { [output.file]: { schema: { type: "string" } } }
    : { "application/json": { schema: jsonSchema(output, "output") } };
  const error = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  return {
    tags: [name.split(".")[0]],
    summary: title,
    ...(typeof description === "string" ? { description } : {}),
    "x-rights": rights,
    responses: {
      200: { description: "The result", content },
      default: { description: "What went wrong, and what to do", content: error },
    },
  };
}

function requestOf({ input, fileInput }: Operation) {
  if (!fileInput) {
    const schema = jsonSchema(input, "input");
    return { requestBody: { required: true, content: { "application/json": { schema } } } };
  }
  return {
    parameters: queryOf({ input }).filter(({ name }) => name !== fileInput.field),
    requestBody: { required: true, content: { "application/json": { schema: {} } } },
  };
}

function queryOf({ input }: Pick<Operation, "input">) {
  const { properties = {}, required = [] } = jsonSchema(input, "input");
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

/** Without `$schema`, which OpenAPI does not want in its parts. */
export function jsonSchema(schema: z.ZodType, io: "input" | "output") {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      const { help } = fieldHints.get(zodSchema) ?? {};
      if (help !== undefined) jsonSchema.description ??= help;
    },
  });
  return plain;
}
