/** Comments in the HTML that tell the browser where islands, slots, partials and keys are. */
export type MarkerKind = "island" | "slot" | "partial" | "key";

export interface Marker {
  kind: MarkerKind;
  args: string[];
}

const PREFIX = "frsh";

/** Each argument is encoded: a raw `-->` in a key would end the comment. */
export function openMarker(kind: MarkerKind, ...args: (string | number)[]): string {
  const parts = args.map((arg) => encodeURIComponent(String(arg).toWellFormed()));
  return `<!--${[PREFIX, kind, ...parts].join(":")}-->`;
}

export function closeMarker(kind: MarkerKind): string {
  return `<!--/${PREFIX}:${kind}-->`;
}

/** Reads a comment's text; undefined when it is no opening marker. */
export function parseMarker(comment: string): Marker | undefined {
  const [prefix, kind, ...args] = comment.split(":");
  if (prefix !== PREFIX || !isKind(kind)) return undefined;
  try {
    return { kind, args: args.map((arg) => decodeURIComponent(arg)) };
  } catch {
    return undefined;
  }
}

export function isClosing(comment: string, kind: MarkerKind): boolean {
  return comment === `/${PREFIX}:${kind}`;
}

function isKind(kind: string | undefined): kind is MarkerKind {
  return kind === "island" || kind === "slot" || kind === "partial" || kind === "key";
}

/** The data block at the end of the body. */
export const STATE_ID = "__FRSH_STATE";

export interface PageState {
  build: string;
  /** Name, URL of the module, name of the export. */
  islands: [name: string, chunk: string, exportName: string][];
  /** The islands' props, one entry per island on the page. */
  props: string;
  /** Where to listen for the next process, in development. */
  alive?: string;
}

export function slotTemplateId(id: number | string): string {
  return `frsh-slot-${id}`;
}
