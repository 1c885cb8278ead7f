import { formatNumber } from "../lib/console/ui/format.ts";
import { liveCounts, type StatusCounts } from "../lib/console/ui/live.ts";

/** A number beside a word in the rail, and a dot where something needs a person. */
export default function NavCount(
  { kind, counts }: { kind: "servers" | "tools" | "toolsets" | "security"; counts: StatusCounts },
) {
  const now = liveCounts.value ?? counts;
  const number = now[kind] ?? counts[kind] ?? 0;
  // Nothing that waits is nothing to say; nothing that is there is.
  if (kind === "security" && number === 0) return null;
  const needsAttention = kind === "servers" && now.attention > 0;
  return (
    <span class="nav-count">
      {needsAttention && (
        <span class="nav-dot" title={`${now.attention} need attention`}>
          <span class="visually-hidden">{`${now.attention} need attention, `}</span>
        </span>
      )}
      <span class="nav-number" {...(kind === "security" ? { title: `${number} waiting` } : {})}>
        {formatNumber(number)}
      </span>
    </span>
  );
}
