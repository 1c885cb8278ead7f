import { shortened } from "../../core/text.ts";
import { isObject } from "../../core/rpc.ts";
import { nearestSiblings, type TargetTool } from "../targets.ts";

export const MAX_REQUEST = 28_000;

/** The most characters of each part of a request; together they leave room for a repair. */
export const ROOM = {
  system: 3_500,
  task: 800,
  description: 2_500,
  schema: 4_000,
  siblings: 4_500,
  examples: 1_500,
  existing: 1_500,
  refused: 2_500,
  parent: 500,
  /** What is asked about parameters. */
  parametersSystem: 1_200,
  failures: 2_800,
  others: 700,
} as const;

/** Of the schema's room, for the parameters with their texts, if these are written. */
export const PARAMETERS_ROOM = 1_600;
export const MAX_SIBLINGS = 30;
const SIBLING_DESCRIPTION = 300;
const LONGEST_NAME = 128;

export function targetText(target: TargetTool, schemaRoom: number = ROOM.schema): string {
  const tool = {
    server: fitting(target.server, LONGEST_NAME),
    name: fitting(target.name, LONGEST_NAME),
    description: fitting(target.description, ROOM.description),
  };
  const siblings = nearestSiblings(target).slice(0, MAX_SIBLINGS);
  return [
    dataBlock("tool", [tool], ROOM.description + 500),
    dataBlock("schema", [schemaData(target.definition.inputSchema, schemaRoom)], schemaRoom),
    dataBlock("siblings", siblings.map((one) => siblingData(one, siblings.length)), ROOM.siblings),
  ].join("\n");
}

/** The more there are, the less is said of each. */
function siblingData(sibling: TargetTool["siblings"][number], count: number): unknown {
  const name = fitting(sibling.name, LONGEST_NAME);
  // The tags and the note of a cut; the keys and quotes of a line.
  const room = Math.floor((ROOM.siblings - 100) / count) - name.length - 35;
  const length = Math.min(SIBLING_DESCRIPTION, Math.max(40, room));
  return { name, description: fitting(sibling.description, length) };
}

export function fitting(text: string, room: number): string {
  let cut = shortened(text.trim(), room);
  // What has to be escaped takes up to six times its length.
  while (cut.length > 1 && asDataText(cut).length > room + 2) {
    cut = shortened(cut, Math.floor(cut.length * 0.8));
  }
  return cut;
}

/** The schema where there is room for it, else what it says of each parameter, else its start. */
function schemaData(schema: Record<string, unknown>, most: number): unknown {
  // The tags and the note of a cut.
  const room = most - 100;
  const texts = [schema, outline(schema, 120), outline(schema, 0)];
  // As data it is never shorter than as JSON: what is huge need not be escaped to see that.
  const fits = (value: unknown) =>
    JSON.stringify(value).length <= room && asDataText(value).length <= room;
  return texts.find(fits) ??
    fitting(JSON.stringify(texts.at(-1)), room);
}

function outline(schema: Record<string, unknown>, descriptionLength: number): unknown {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const parameters = properties
    .sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)))
    .map(([name, property]) => {
      const { type, description } = isObject(property) ? property : {};
      return {
        name: shortened(name, LONGEST_NAME),
        ...(required.has(name) ? { required: true } : {}),
        ...(typeof type === "string" ? { type } : {}),
        ...(typeof description === "string" && descriptionLength > 0
          ? { description: shortened(description, descriptionLength) }
          : {}),
      };
    });
  return { parameters };
}

/** Text of others as data, one JSON value a line: without a `<` nothing in it can end the block. */
export function dataBlock(tag: string, values: readonly unknown[], room: number): string {
  const [open, close] = [`<${tag}>\n`, `</${tag}>`];
  const cut = "(cut: there is more)\n";
  let left = room - open.length - close.length - cut.length;
  let lines = "";
  for (const value of values) {
    const line = `${asDataText(value)}\n`;
    if (line.length > left) {
      lines += cut;
      break;
    }
    lines += line;
    left -= line.length;
  }
  return `${open}${lines}${close}`;
}

/** JSON without `<`, `>` and line breaks of any kind. */
export function asDataText(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>\u0085\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
