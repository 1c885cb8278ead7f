/** A text that may have been too long to show. */
export interface CutText {
  text: string;
  /** How many bytes it has in all, where it was cut. */
  cutFrom?: number;
}

export type TryPart =
  | ({ kind: "text" } & CutText)
  | { kind: "image"; url: string; mimeType: string }
  | ({ kind: "other"; type: string } & CutText);

/** What came of a call, as it is shown. */
export interface TryOutcome {
  isError: boolean;
  ms: number;
  /** Of the whole answer. */
  bytes: number;
  parts: TryPart[];
  /** How many parts are not shown. */
  more: number;
  structured?: CutText;
  request: CutText;
  response: CutText;
  /** What the server said before its answer. */
  messages: CutText[];
}
