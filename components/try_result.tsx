import { formatBytes, formatLatency } from "../lib/console/ui/format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import type { CutText, TryOutcome, TryPart } from "../lib/console/ui/try_outcome.ts";
import { CopyButton } from "./copy_button.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";

/** What came of a call; whatever the server says in it is text and nothing else. */
export function TryResult({ outcome }: { outcome: TryOutcome }) {
  const { isError, ms, bytes, parts, more, structured } = outcome;
  return (
    <section class="try-result" aria-labelledby="try-result-title">
      <header class="try-head">
        <h3 id="try-result-title">
          <span class={isError ? "state tone-bad" : "state tone-ok"}>
            <Icon name={isError ? "error" : "ready"} size={14} />
            {isError ? "The tool reports an error" : "Result"}
          </span>
        </h3>
        <span class="muted small">{formatLatency(ms)}, {formatBytes(bytes)}</span>
      </header>
      {parts.map((part, index) => <Part key={index} part={part} />)}
      {parts.length === 0 && structured === undefined && <p class="muted">The result is empty.</p>}
      {more > 0 && <p class="small muted">{more} more parts are not shown.</p>}
      {structured === undefined ? null : <Shown title="Structured content" text={structured} />}
      <details class="try-raw">
        <summary>Raw messages</summary>
        <Shown title="Request" text={outcome.request} />
        {outcome.messages.map((text, index) => (
          <Shown key={index} title="From the server, before its answer" text={text} />
        ))}
        <Shown title="Response" text={outcome.response} />
      </details>
    </section>
  );
}

function Part({ part }: { part: TryPart }) {
  switch (part.kind) {
    case "text":
      return <Shown text={part} />;
    case "image":
      return (
        <img class="try-image" src={part.url} alt={`A picture from the tool, ${part.mimeType}`} />
      );
    case "other":
      return <Shown title={`Content of type ${inertString(part.type.slice(0, 40))}`} text={part} />;
  }
}

function Shown({ title, text: { text, cutFrom } }: { title?: string; text: CutText }) {
  return (
    <figure class="code">
      {title === undefined ? null : <figcaption class="small muted">{title}</figcaption>}
      <div class="try-text-box">
        <CopyButton value={text} label={`Copy ${(title ?? "the text").toLowerCase()}`} />
        <pre tabIndex={0} aria-label={title ?? "Text of the result"}><InertText text={text} /></pre>
      </div>
      {cutFrom === undefined
        ? null
        : <p class="small muted">Cut here: it has {formatBytes(cutFrom)} in all.</p>}
    </figure>
  );
}
