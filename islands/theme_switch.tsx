import { useEffect } from "preact/hooks";
import { Icon, type IconName } from "../components/icon.tsx";
import { chooseTheme, loadTheme, type Theme, theme, THEMES } from "../lib/console/ui/theme.ts";

const LABELS: Record<Theme, { label: string; icon: IconName }> = {
  system: { label: "Follow the system's theme", icon: "monitor" },
  light: { label: "Light theme", icon: "sun" },
  dark: { label: "Dark theme", icon: "moon" },
};

/** System, light or dark; remembered in this browser. */
export default function ThemeSwitch() {
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
