import { inertParts } from "../lib/console/ui/inert_text.ts";

/** Text from a server: isolated, so that it cannot reorder ours, with hidden characters shown. */
export function InertText({ text }: { text: string }) {
  return (
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
}
