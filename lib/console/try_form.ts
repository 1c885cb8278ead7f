import { parametersOf, resolveReference } from "../core/parameters.ts";
import { isObject } from "../core/rpc.ts";
import type { ToolDefinition } from "../core/tool.ts";
import { riskOf } from "../surfaces/tool_calls.ts";
import type { TryField, TryForm } from "./ui/try_fields.ts";

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
  const fields = isJsonOnly ? [] : rows.map((row): TryField => {
    const property = plain(schema, properties[row.path]);
    const choices = choicesOf(property);
    return {
      name: row.path,
      kind: choices === undefined ? kindOf(property) : "choice",
      type: row.type,
      isRequired: row.isRequired,
      ...(row.description === undefined ? {} : { description: row.description }),
      ...(row.limits === undefined ? {} : { limits: row.limits }),
      ...(row.defaultValue === undefined ? {} : { defaultValue: row.defaultValue }),
      ...(choices === undefined ? {} : { choices }),
    };
  });
  const risk = riskOf({ definition }) ?? (mustConfirm ? "asked" : undefined);
  return { fields, isJsonOnly, ...(risk === undefined ? {} : { risk }) };
}

/** Whether it can take what it does not name. */
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

function kindOf({ type }: Schema): TryField["kind"] {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== "null");
  if (types.length !== 1) return "json";
  switch (types[0]) {
    case "string":
      return "text";
    case "number":
    case "integer":
    case "boolean":
      return types[0];
    default:
      return "json";
  }
}

function choicesOf(schema: Schema): string[] | undefined {
  const values: unknown = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (!Array.isArray(values) || values.length === 0 || values.length > MAX_CHOICES) {
    return undefined;
  }
  if (values.some((value) => typeof value === "object" && value !== null)) return undefined;
  return values.map((value) => JSON.stringify(value));
}
