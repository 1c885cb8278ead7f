import * as z from "zod";
import type { Gateway } from "../../../../../lib/gateway.ts";
import { formError } from "../../../../../lib/console/errors.ts";
import { parametersOf, resolveReference } from "../../../../../lib/core/parameters.ts";
import { isObject, memberText } from "../../../../../lib/core/rpc.ts";
import type { ToolDefinition } from "../../../../../lib/core/tool.ts";
import { riskOf, type TrialAnswer, type TrialCall } from "../../../../../lib/mcp/trial_call.ts";
import { cleanMessage } from "../../../../../lib/telemetry/activity_reader.ts";
import type { Redactor } from "../../../../../lib/telemetry/redact.ts";
import {
  type ArgumentField,
  readArguments,
  readTryForm,
  type TryForm,
} from "../(_components)/try_fields.tsx";
import type { CutText, TriedTool, TryOutcome, TryPart } from "../(_components)/try_result.tsx";

const MAX_FIELDS = 60;
const MAX_CHOICES = 200;

type Schema = Record<string, unknown>;

/**
 * A form for a tool's arguments; whatever the schema is, it gives what it can. It asks first where
 * the tool may change things, by its own word or because a mode takes it so.
 */
export function tryForm(definition: ToolDefinition, mustConfirm = false): TryForm {
  const schema = definition.inputSchema;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const rows = parametersOf(schema).rows.filter(({ depth }) => depth === 0);
  const names = Object.keys(properties);
  const isOpen = names.length === 0 && hasMore(schema);
  const isJsonOnly = isOpen || names.length > MAX_FIELDS || rows.length !== names.length;
  const fields = isJsonOnly ? [] : rows.map((row): ArgumentField => {
    const property = plain(schema, properties[row.path]);
    const choices = choicesOf(property);
    return { ...row, choices, kind: choices === undefined ? kindOf(property) : "choice" };
  });
  const risk = riskOf({ definition }) ?? (mustConfirm ? "asked" : undefined);
  return { fields, isJsonOnly, risk };
}

/** Whether it accepts properties that it does not name. */
function hasMore({ additionalProperties, anyOf, oneOf, allOf, $ref, patternProperties }: Schema) {
  return additionalProperties === true || isObject(additionalProperties) ||
    [anyOf, oneOf, allOf, $ref, patternProperties].some((part) => part !== undefined);
}

/** A property's own schema; `string or null` is a string that may be left out. */
function plain(root: Schema, value: unknown): Schema {
  const schema = resolveReference(root, value);
  const alternatives = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (!alternatives) return schema;
  const real = alternatives.map((option: unknown) => resolveReference(root, option))
    .filter(({ type }) => type !== "null");
  return real.length === 1 && real[0] ? real[0] : {};
}

const KINDS = new Map<unknown, ArgumentField["kind"]>([
  ["string", "text"],
  ["number", "number"],
  ["integer", "integer"],
  ["boolean", "boolean"],
]);

function kindOf({ type }: Schema): ArgumentField["kind"] {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== "null");
  return types.length === 1 ? KINDS.get(types[0]) ?? "json" : "json";
}

function choicesOf(schema: Schema): string[] | undefined {
  const values: unknown = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (!Array.isArray(values) || values.length === 0 || values.length > MAX_CHOICES) {
    return undefined;
  }
  if (values.some((value) => typeof value === "object" && value !== null)) return undefined;
  return values.map((value) => JSON.stringify(value));
}

/** Calls a tool with the fields of a form sent without scripts; may throw ACCESS_DENIED. */
export async function tryFromForm(
  gateway: Pick<Gateway, "access" | "servers" | "toolCalls" | "logs">,
  { server, tool, ...by }: Pick<TrialCall, "server" | "tool" | "principal" | "signal">,
  form: URLSearchParams,
): Promise<TriedTool> {
  try {
    gateway.access.demand(by.principal, "call", "To try a tool");
  } catch (error) {
    gateway.toolCalls.refused({ server, tool, principal: by.principal }, error);
    throw error;
  }
  const written = readTryForm(form);
  const definition = gateway.servers.tools(server).find(({ name }) => name === tool);
  const read = readArguments(definition ? tryForm(definition).fields : [], written);
  if ("problems" in read) return { written, problems: read.problems };
  try {
    const isConfirmed = form.get("try") === "confirmed";
    const outcome = await tryTool(gateway, { server, tool, args: read.args, isConfirmed, ...by });
    return { written, outcome };
  } catch (error) {
    return { written, error: formError(error) };
  }
}

const MAX_TEXT = 100_000;
const MAX_RAW = 50_000;
const MAX_PARTS = 50;
const MAX_IMAGE = 2_000_000;
const MAX_MESSAGES = 20;
/** Pictures that a browser draws without running anything in them. */
const IMAGES = /^image\/(?:png|jpeg|gif|webp|avif)$/;

const Content = z.looseObject({ type: z.string() });
const Text = z.looseObject({ type: z.literal("text"), text: z.string() });
const Image = z.looseObject({
  type: z.literal("image"),
  data: z.base64(),
  mimeType: z.string().regex(IMAGES),
});
const Result = z.looseObject({
  content: z.array(Content).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});
const RpcError = z.looseObject({ code: z.number(), message: z.string() });

/** Calls a tool for the Try it form; throws if the call was not made or got no response. */
export async function tryTool(
  { toolCalls, logs }: Pick<Gateway, "toolCalls" | "logs">,
  call: TrialCall,
): Promise<TryOutcome> {
  return outcomeOf(await toolCalls.call(call), logs.redactor);
}

/**
 * An answer as it can be shown: without secrets, as in the activity, cut, and pictures only where
 * they are safe to draw.
 */
export function outcomeOf(
  { request, response: answer, messages, ms }: TrialAnswer,
  redactor: Redactor,
): TryOutcome {
  const response = cleanMessage(answer, redactor);
  // Once more as text: a secret may be a number, or lie across two members.
  const shown = (json: string) => cut(redactor.json(indented(json)), MAX_RAW);
  const raw = {
    ms,
    bytes: new TextEncoder().encode(answer).length,
    request: shown(cleanMessage(request, redactor)),
    response: shown(response),
    messages: messages.slice(0, MAX_MESSAGES).map((text) =>
      cut(redactor.json(cleanMessage(text, redactor)), MAX_RAW)
    ),
  };
  const failed = (text: string): TryOutcome => ({
    ...raw,
    isError: true,
    parts: [{ kind: "text", ...cut(text, MAX_TEXT) }],
    more: 0,
  });
  const error = memberText(response, "error");
  if (error !== undefined) {
    const { code, message } = RpcError.catch({ code: 0, message: error }).parse(JSON.parse(error));
    return failed(`The server returned error ${code}: ${message}`);
  }
  const parsed = Result.safeParse(JSON.parse(memberText(response, "result") ?? "null"));
  if (!parsed.success) {
    return failed("The response is not a valid MCP result; see the raw messages.");
  }
  const { content, structuredContent, isError } = parsed.data;
  return {
    ...raw,
    isError,
    parts: content.slice(0, MAX_PARTS).map((part) => partOf(part, redactor)),
    more: Math.max(0, content.length - MAX_PARTS),
    ...(structuredContent === undefined ? {} : {
      structured: cut(redactor.json(JSON.stringify(structuredContent, undefined, 2)), MAX_TEXT),
    }),
  };
}

function partOf(content: z.infer<typeof Content>, redactor: Redactor): TryPart {
  const text = Text.safeParse(content);
  if (text.success) return { kind: "text", ...cut(text.data.text, MAX_TEXT) };
  const image = Image.safeParse(content);
  if (image.success && image.data.data.length <= MAX_IMAGE) {
    const { mimeType, data } = image.data;
    return { kind: "image", url: `data:${mimeType};base64,${data}`, mimeType };
  }
  return {
    kind: "other",
    type: content.type,
    ...cut(redactor.json(JSON.stringify(content, undefined, 2)), 5_000),
  };
}

function cut(text: string, most: number): CutText {
  if (text.length <= most) return { text };
  const bytes = new TextEncoder().encode(text).length;
  return { text: text.slice(0, most).replace(/[\uD800-\uDBFF]$/, ""), cutFrom: bytes };
}

function indented(json: string): string {
  // A parse and print of a very long one is work for nothing: it is cut anyway.
  if (json.length > 1_000_000) return json;
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}
