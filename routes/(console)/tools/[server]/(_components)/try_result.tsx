import * as z from "zod/mini";
import { CopyButton, InertText } from "../../../../../components/text.tsx";
import { StateLabel } from "../../../../../components/badges.tsx";
import { ApiError, askApi, type FormError } from "../../../../../lib/console/ui/api.ts";
import { formatBytes, formatLatency, inertString } from "../../../../../lib/console/ui/format.ts";
import type { FieldProblem, TryValues } from "./try_fields.tsx";

/** The outcome of a call; the server's content is shown as text only. */
export function TryResult({ outcome }: { outcome: TryOutcome }) {
  const { isError, ms, bytes, parts, more, structured } = outcome;
  return (
    <section class="try-result" aria-labelledby="try-result-title">
      <header class="try-head">
        <h3 id="try-result-title">
          {isError
            ? <StateLabel tone="bad" icon="error">The tool reports an error</StateLabel>
            : <StateLabel tone="ok" icon="ready">Result</StateLabel>}
        </h3>
        <span class="muted small">{formatLatency(ms)}, {formatBytes(bytes)}</span>
      </header>
      {parts.map((part, index) => <Part key={index} part={part} />)}
      {parts.length === 0 && structured === undefined && <p class="muted">The result is empty.</p>}
      {more > 0 && <p class="small muted">{more} more items not shown.</p>}
      {structured && <Shown title="Structured content" text={structured} />}
      <details class="try-raw">
        <summary>Raw messages</summary>
        <Shown title="Request" text={outcome.request} />
        {outcome.messages.map((text, index) => (
          <Shown key={index} title="Server messages before the result" text={text} />
        ))}
        <Shown title="Response" text={outcome.response} />
      </details>
    </section>
  );
}

function Part({ part }: { part: TryPart }) {
  if (part.kind === "text") return <Shown text={part} />;
  if (part.kind === "other") {
    return <Shown title={`Content of type ${inertString(part.type.slice(0, 40))}`} text={part} />;
  }
  return <img class="try-image" src={part.url} alt={`Image from the tool, ${part.mimeType}`} />;
}

function Shown({ title, text: { text, cutFrom } }: { title?: string; text: CutText }) {
  return (
    <figure class="code">
      {title !== undefined && <figcaption class="small muted">{title}</figcaption>}
      <div class="try-text-box">
        <CopyButton value={text} label={`Copy ${(title ?? "the text").toLowerCase()}`} />
        <pre tabIndex={0} aria-label={title ?? "Text of the result"}><InertText text={text} /></pre>
      </div>
      {cutFrom !== undefined && (
        <p class="small muted">Truncated: the full text has {formatBytes(cutFrom)}.</p>
      )}
    </figure>
  );
}

const CutText = z.object({
  text: z.string(),
  /** How many bytes it has in all, where it was cut. */
  cutFrom: z.optional(z.number()),
});
export type CutText = z.infer<typeof CutText>;

const TryPart = z.union([
  z.extend(CutText, { kind: z.literal("text") }),
  z.object({ kind: z.literal("image"), url: z.string(), mimeType: z.string() }),
  z.extend(CutText, { kind: z.literal("other"), type: z.string() }),
]);
export type TryPart = z.infer<typeof TryPart>;

const TryOutcome = z.object({
  isError: z.boolean(),
  ms: z.number(),
  /** Of the whole response. */
  bytes: z.number(),
  parts: z.array(TryPart),
  more: z.number(),
  structured: z.optional(CutText),
  request: CutText,
  response: CutText,
  /** Messages from the server before its response. */
  messages: z.array(CutText),
});
export type TryOutcome = z.infer<typeof TryOutcome>;

export interface TriedTool {
  written: TryValues;
  problems?: FieldProblem[];
  outcome?: TryOutcome;
  error?: FormError;
}

/** Calls a tool; a failure is an outcome too. */
export async function requestCall(
  { server, tool, ...call }: {
    server: string;
    tool: string;
    arguments: Record<string, unknown>;
    confirmed: boolean;
  },
  signal: AbortSignal,
): Promise<Pick<TriedTool, "outcome" | "error">> {
  try {
    const path = [server, tool].map(encodeURIComponent).join("/");
    const response = await askApi(`/api/tools/${path}/call`, call, signal);
    return { outcome: z.object({ outcome: TryOutcome }).parse(response).outcome };
  } catch (error) {
    return { error: ApiError.from(error).details };
  }
}
