/** One text of a definition and its JSON path. */
export interface FoundText {
  where: string;
  text: string;
  /** `key` for the names of fields: a model reads those too. */
  kind: "value" | "key";
}

export interface FoundTexts {
  texts: FoundText[];
  /** More than is looked at: what lies beyond was not seen by any rule. */
  isCut: boolean;
}

/** Far above what real definitions have, and little enough to be read in some milliseconds. */
export const LIMITS = { characters: 32_000, nodes: 20_000, depth: 40 };

/** The words that JSON Schema itself uses; they say nothing about who wrote the schema. */
const SCHEMA_WORDS = new Set(
  ("type properties required items description title default enum examples pattern const format " +
    "minimum maximum minLength maxLength minItems maxItems anyOf oneOf allOf not $ref $defs " +
    "definitions $schema additionalProperties name inputSchema outputSchema annotations _meta icons " +
    "src mimeType sizes string number integer boolean object array null").split(" "),
);

/** Every text of a definition, name and description first, up to the limits. */
export function textsOf(definition: Record<string, unknown>): FoundTexts {
  const texts: FoundText[] = [];
  let characters = 0;
  let nodes = 0;
  let isCut = false;
  const take = (text: string, where: string, kind: FoundText["kind"]) => {
    if (SCHEMA_WORDS.has(text)) return;
    const room = LIMITS.characters - characters;
    if (text.length > room) isCut = true;
    if (room <= 0) return;
    texts.push({ where, text: text.slice(0, room), kind });
    characters += text.length;
  };
  // A stack of its own: a definition nested ten thousand levels deep must not end the program.
  const waiting: { value: unknown; where: string; depth: number }[] = [];
  const { name, title, description, ...rest } = definition;
  waiting.push({ value: rest, where: "", depth: 0 });
  for (const [where, value] of Object.entries({ description, title, name })) {
    if (value !== undefined) waiting.push({ value, where, depth: 0 });
  }
  while (waiting.length > 0) {
    const { value, where, depth } = waiting.pop()!;
    if (typeof value === "string") take(value, where, "value");
    if (typeof value !== "object" || value === null) continue;
    if (depth >= LIMITS.depth || characters >= LIMITS.characters) {
      isCut = true;
      continue;
    }
    const children: typeof waiting = [];
    for (const key in value) {
      if (++nodes > LIMITS.nodes) {
        isCut = true;
        break;
      }
      const path = Array.isArray(value)
        ? `${where}[${key}]`
        : where === ""
        ? key
        : `${where}.${key}`;
      if (!Array.isArray(value)) take(key, path, "key");
      children.push({ value: Reflect.get(value, key), where: path, depth: depth + 1 });
    }
    // In their own order, since the last one pushed is the next one taken.
    for (let i = children.length - 1; i >= 0; i--) waiting.push(children[i]!);
  }
  return { texts, isCut };
}
