import { useEffect } from "preact/hooks";
import { Icon, type IconName } from "../components/icon.tsx";
import { formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { liveCounts, type StatusCounts } from "../lib/console/ui/live.ts";
import {
  chooseTheme,
  isRailNarrow,
  loadRail,
  loadTheme,
  type Theme,
  theme,
  THEMES,
  toggleRail,
} from "../lib/console/ui/preferences.ts";

// The islands of every page. Every other island file imports this one, although it uses none of it:
// the bundler makes a chunk for each set of files that share a module, so that all of the frame's
// code is one chunk only if every file shares all of it.
// For the same reason it imports what several islands share besides.
import "../components/badges.tsx";
export { CommandPalette } from "../components/palette.tsx";
export { Copier, NavFeedback, Toaster } from "../components/feedback.tsx";
export { Clock, LiveIndicator, PageMoment, RefreshSoon } from "../components/live_page.tsx";
export { Shortcuts } from "../components/shortcuts.tsx";

export function NavCount(
  { kind, counts }: { kind: "servers" | "tools" | "toolsets" | "security"; counts: StatusCounts },
) {
  const now = liveCounts.value ?? counts;
  const number = now[kind] ?? counts[kind] ?? 0;
  // A count of waiting items is hidden at zero; other counts show zero.
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

interface HeaderSummaryProps {
  counts: StatusCounts;
  place: string;
  isOptimizing: boolean;
}

export function HeaderSummary({ counts, place, isOptimizing }: HeaderSummaryProps) {
  const { servers, ready, starting = 0, optimizing = isOptimizing } = liveCounts.value ?? counts;
  const title = `${ready} of ${formatCount(servers, "server")} ready` +
    (starting === 0 ? "" : `, ${starting} starting`);
  return (
    <ul class="summary" aria-label="Gateway">
      <li title={title}>
        <Icon name="servers" size={14} />
        {ready === servers ? formatCount(servers, "server") : `${ready}/${servers} ready`}
      </li>
      <li class="mono" title="Gateway address">{place}</li>
      <li title={optimizing ? "Optimization is on" : "Optimization is off"}>
        <Icon name="optimization" size={14} />
        Optimization {optimizing ? "on" : "off"}
      </li>
    </ul>
  );
}

export function RailToggle() {
  useEffect(loadRail, []);
  const label = isRailNarrow.value ? "Expand navigation" : "Collapse navigation";
  return (
    <button
      type="button"
      class="rail-toggle needs-js"
      aria-expanded={!isRailNarrow.value}
      aria-controls="rail"
      title={label}
      onClick={toggleRail}
    >
      <Icon name="panel" />
      <span class="nav-word">{isRailNarrow.value ? "Expand" : "Collapse"}</span>
    </button>
  );
}

const LABELS: Record<Theme, { label: string; icon: IconName }> = {
  system: { label: "Use system theme", icon: "monitor" },
  light: { label: "Light theme", icon: "sun" },
  dark: { label: "Dark theme", icon: "moon" },
};

export function ThemeSwitch() {
  useEffect(loadTheme, []);
  return (
    <div class="segments needs-js" role="group" aria-label="Theme">
      {THEMES.map((name) => (
        <button
          key={name}
          type="button"
          class="segment"
          aria-pressed={theme.value === name}
          aria-label={LABELS[name].label}
          title={LABELS[name].label}
          onClick={() => chooseTheme(name)}
        >
          <Icon name={LABELS[name].icon} size={14} />
        </button>
      ))}
    </div>
  );
}
