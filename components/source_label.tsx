import type { ServerSource } from "../lib/core/server.ts";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";

/** Where a server's entry is kept; the whole path on hover. */
export function SourceLabel(
  { source, isLong = false }: { source: ServerSource; isLong?: boolean },
) {
  if (source.kind === "demo") {
    return (
      <span class="source">
        <Icon name="demo" size={14} />Built in
      </span>
    );
  }
  if (source.kind === "store") {
    return (
      <span class="source">
        <Icon name="store" size={14} />Added here
      </span>
    );
  }
  const shown = isLong ? source.path : source.path.split(/[/\\]/).at(-1) ?? source.path;
  return (
    <span class="source mono" title={source.path}>
      <Icon name="file" size={14} />
      <span class={isLong ? "place" : "cut"}>
        <InertText text={shown} />
      </span>
    </span>
  );
}
