import { useEffect } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { isRailNarrow, loadRail, toggleRail } from "../lib/console/ui/rail.ts";

/** Narrows the rail to its icons, and remembers it. */
export default function RailToggle() {
  useEffect(loadRail, []);
  const label = isRailNarrow.value ? "Widen the navigation" : "Collapse the navigation";
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
      <span class="nav-word">{isRailNarrow.value ? "Widen" : "Collapse"}</span>
    </button>
  );
}
