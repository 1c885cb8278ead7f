import type { ToolLine } from "../lib/console/optimization_page.ts";
import { Icon } from "./icon.tsx";

/** How a tool's description stands, as a sign with a word for those who do not see it. */
export function StatusIcon({ tool }: { tool: Pick<ToolLine, "status" | "isStale"> }) {
  if (tool.isStale) {
    return (
      <span class="state tone-warn">
        <Icon name="alert" size={14} label="Stale" />
      </span>
    );
  }
  return tool.status === "optimized"
    ? (
      <span class="state tone-ok">
        <Icon name="ready" size={14} label="Optimized" />
      </span>
    )
    : <span class="open-dot" role="img" aria-label={statusWord(tool)}>○</span>;
}

export function statusWord({ status, isStale }: Pick<ToolLine, "status" | "isStale">): string {
  if (isStale) return "Stale";
  if (status === "optimized") return "Optimized";
  return status === "baseline" ? "Baseline kept" : "Not optimized";
}

export function Percentages({ tool }: { tool: ToolLine }) {
  return (
    <span class="percentages small" {...(tool.evidence ? { title: tool.evidence } : {})}>
      {tool.isStale && <span class="badge tone-warn">Stale</span>}
      {tool.status === "baseline" && <span class="muted">Baseline</span>}
      {tool.scores.map(({ label, percent, text }) => (
        <span key={label} title={text}>
          <span class="muted">{label === "Negative" ? "Neg" : label}:</span> {percent}
        </span>
      ))}
    </span>
  );
}
