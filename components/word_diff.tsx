import type { TextSegment } from "../lib/catalog/word_diff.ts";
import { InertText } from "./inert_text.tsx";

/** What came and what went, by word: underlined and struck through, never told by color alone. */
export function WordDiff({ segments }: { segments: readonly TextSegment[] }) {
  return (
    <p class="prose diff">
      {segments.map(({ kind, text }, index) => {
        const content = <InertText text={text} />;
        if (kind === "same") return <span key={index}>{content}</span>;
        return kind === "added"
          ? <ins key={index}>{content}</ins>
          : <del key={index}>{content}</del>;
      })}
    </p>
  );
}
