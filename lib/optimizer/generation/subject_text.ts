import { shortened } from "../../core/shortened.ts";
import { isObject } from "../../core/rpc.ts";
import { stemsOf } from "../../search/words.ts";
import { asDataText, dataBlock } from "./data_block.ts";
import { ROOM } from "./request_room.ts";
import type { SubjectTool } from "./subject_tool.ts";

export const MOST_SIBLINGS = 30;
const SIBLING_DESCRIPTION = 300;
const LONGEST_NAME = 128;

/** A tool and what it stands beside, as data for a model; cut to what a request has room for. */
export function subjectText(subject: SubjectTool): string {
  const tool = {
    server: fitting(subject.server, LONGEST_NAME),
    name: fitting(subject.name, LONGEST_NAME),
    description: fitting(subject.description, ROOM.description),
  };
  const siblings = nearestSiblings(subject);
  return [
    dataBlock("tool", [tool], ROOM.description + 500),
    dataBlock("schema", [schemaData(subject.definition.inputSchema)], ROOM.schema),
    dataBlock("siblings", siblings.map((one) => siblingData(one, siblings.length)), ROOM.siblings),
  ].join("\n");
}

/** The more there are, the less is said of each. */
function siblingData(sibling: SubjectTool["siblings"][number], count: number): unknown {
  const name = fitting(sibling.name, LONGEST_NAME);
  // The tags and the note of a cut; the keys and quotes of a line.
  const room = Math.floor((ROOM.siblings - 100) / count) - name.length - 35;
  const length = Math.min(SIBLING_DESCRIPTION, Math.max(40, room));
  return { name, description: fitting(sibling.description, length) };
}

/** The siblings that a model is most likely to take for the tool, nearest first. */
export function nearestSiblings(subject: SubjectTool): SubjectTool["siblings"] {
  const own = stemsFor(subject);
  return subject.siblings
    .filter(({ name }) => name !== subject.name)
    .map((sibling) => {
      const stems = stemsFor(sibling);
      const all = own.union(stems).size;
      return { sibling, nearness: all === 0 ? 0 : own.intersection(stems).size / all };
    })
    .sort((a, b) => b.nearness - a.nearness)
    .slice(0, MOST_SIBLINGS)
    .map(({ sibling }) => sibling);
}

function stemsFor({ name, description }: { name: string; description: string }): Set<string> {
  return new Set(stemsOf(`${name} ${description.slice(0, 1_000)}`));
}

/** The start of a text that takes at most `room` characters as data. */
function fitting(text: string, room: number): string {
  let cut = shortened(text.trim(), room);
  // What has to be escaped takes up to six times its length.
  while (cut.length > 1 && asDataText(cut).length > room + 2) {
    cut = shortened(cut, Math.floor(cut.length * 0.8));
  }
  return cut;
}

/** The schema where there is room for it, else what it says of each parameter, else its start. */
function schemaData(schema: Record<string, unknown>): unknown {
  // The tags and the note of a cut.
  const room = ROOM.schema - 100;
  const texts = [schema, outline(schema, 120), outline(schema, 0)];
  // As data it is never shorter than as JSON: what is huge need not be escaped to see that.
  const fits = (value: unknown) =>
    JSON.stringify(value).length <= room && asDataText(value).length <= room;
  return texts.find(fits) ??
    fitting(JSON.stringify(texts.at(-1)), room);
}

/** The parameters of a schema, the required ones first. */
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
