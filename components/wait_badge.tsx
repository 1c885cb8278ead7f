import { inertString } from "../lib/console/ui/inert_text.ts";
import { reviewPath } from "../lib/console/ui/paths.ts";
import { TOOL_WAITS, type ToolWait } from "../lib/console/ui/tool_wait.ts";

interface WaitBadgeProps {
  server: string;
  tool: string;
  wait: ToolWait | undefined;
}

/** Why clients do not get a tool as it is, with the way to where that is decided. */
export function WaitBadge({ server, tool, wait }: WaitBadgeProps) {
  if (wait === undefined) return null;
  const { word, meaning, tone } = TOOL_WAITS[wait];
  return (
    <a
      class={`badge wait-badge above tone-${tone}`}
      href={reviewPath(server, tool)}
      title={meaning}
    >
      {word} <span class="visually-hidden">(review {inertString(`${server}.${tool}`)})</span>
    </a>
  );
}
