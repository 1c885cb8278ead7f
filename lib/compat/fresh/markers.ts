/** Comments in the HTML that tell the browser where islands, slots, partials and keys are. */
export type MarkerKind = "island" | "slot" | "partial" | "key";

export interface Marker {
  kind: string;
  args: string[];
}

/** Each argument is encoded: a raw `-->` in a key would end the comment. */
export function markers(kind: MarkerKind, args: (string | number)[]): [string, string] {
  const parts = args.map((arg) => encodeURIComponent(String(arg).toWellFormed()));
  return [`<!--${["frsh", kind, ...parts].join(":")}-->`, `<!--/frsh:${kind}-->`];
}

/** Reads a comment's text; undefined when it is no opening marker. */
export function parseMarker(comment: string): Marker | undefined {
  const [, kind, rest = ""] = /^frsh:(\w+)((?::(?:[^:%]|%[\dA-F]{2})*)*)$/.exec(comment) ?? [];
  const args = rest.split(":").slice(1).map((arg) => decodeURIComponent(arg));
  return kind === undefined ? undefined : { kind, args };
}

/** The data block at the end of the body. */
export const STATE_ID = "__FRSH_STATE";

export interface PageState {
  build: string;
  islands: [name: string, chunk: string, exportName: string][];
  /** The islands' props, one entry per island on the page. */
  props: string;
  /** Where to listen for the next process, in development. */
  alive?: string;
}

export function slotTemplateId(id: number): string {
  return `frsh-slot-${id}`;
}
