import {
  formatAgo,
  formatClock,
  formatExact,
  formatSpan,
  inertParts,
} from "../lib/console/ui/format.ts";
import type { ParameterDiff } from "../lib/catalog/parameter_texts.ts";
import type { TextSegment } from "../lib/catalog/word_diff.ts";
import { Icon } from "./icon.tsx";

/** A day; the exact moment on hover. */
export function Day({ at }: { at: number }) {
  const exact = new Date(at).toISOString();
  return <time dateTime={exact} title={exact}>{exact.slice(0, 10)}</time>;
}

/** A moment in words, with the exact one on hover; the clock island keeps it true. */
export function Ago({ at }: { at: number }) {
  const exact = new Date(at).toISOString();
  return <time dateTime={exact} title={exact} data-clock="ago">{formatAgo(at, Date.now())}</time>;
}

/** The time of day, with the exact moment on hover. */
export function At({ at }: { at: number }) {
  const exact = new Date(at).toISOString();
  return <time dateTime={exact} title={exact} data-clock="day">{formatClock(at, Date.now())}</time>;
}

/** The exact moment. */
export function Exactly({ at }: { at: number }) {
  const time = new Date(at);
  return <time dateTime={time.toISOString()} data-clock="time">{formatExact(at)}</time>;
}

export function Since({ at }: { at: number }) {
  const exact = new Date(at).toISOString();
  return (
    <time dateTime={exact} title={`Since ${exact}`} data-clock="span">
      {formatSpan(Date.now() - at)}
    </time>
  );
}

interface InertTextProps {
  text: string;
  as?: "span" | "p" | "code" | "td";
  class?: string;
}

/** Text from a server: isolated, so that it cannot reorder ours, with hidden characters shown. */
export function InertText({ text, as: Element, class: name }: InertTextProps) {
  const isolated = (
    <bdi>
      {inertParts(text).map((part) =>
        "text" in part
          ? part.text
          : (
            <span class="hidden-char" title="Invisible characters in the text">
              {part.hidden}
            </span>
          )
      )}
    </bdi>
  );
  return Element === undefined ? isolated : <Element class={name}>{isolated}</Element>;
}

/** Texts in a sentence, with commas between them. */
export function Listed({ texts }: { texts: readonly string[] }) {
  return (
    <>
      {texts.map((text, index) => (
        <span key={text}>
          {index > 0 && ", "}
          <InertText text={text} />
        </span>
      ))}
    </>
  );
}

/** What came and what went, by word: underlined and struck through, never by color alone. */
export function Segments({ segments }: { segments: readonly TextSegment[] }) {
  return (
    <>
      {segments.map(({ kind, text }, index) => {
        const Element = kind === "same" ? "span" : kind === "added" ? "ins" : "del";
        return (
          <Element key={index}>
            <InertText text={text} />
          </Element>
        );
      })}
    </>
  );
}

export function WordDiff({ segments }: { segments: readonly TextSegment[] }) {
  return (
    <p class="prose diff">
      <Segments segments={segments} />
    </p>
  );
}

/** Texts for parameters as what differs from the server's own. */
export function ParameterDiffs({ diffs }: { diffs: readonly ParameterDiff[] }) {
  return (
    <>
      {diffs.map(({ path, segments }) => (
        <div key={path} class="parameter-diff">
          <p class="small">
            Parameter <InertText as="code" text={path} />
          </p>
          <WordDiff segments={segments} />
        </div>
      ))}
    </>
  );
}

export function Key({ name }: { name: string }) {
  return <kbd class="key">{name}</kbd>;
}

/** Copies a text whole; the copier island does the work for all of them. */
export function CopyButton({ value, label }: { value: string; label: string }) {
  return (
    <button type="button" class="copy needs-js" data-copy={value} aria-label={label} title={label}>
      <Icon name="copy" size={14} />
      <Icon name="check" size={14} />
    </button>
  );
}

export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <figure class="code">
      <CopyButton value={code} label={`Copy ${label}`} />
      <pre tabIndex={0} aria-label={label}><code>{code}</code></pre>
    </figure>
  );
}
