import { OPTIMIZE_ALL } from "./job_form.ts";
import type { PaletteIndex, PaletteItem } from "./palette_items.ts";
import { NEW_SERVER, NEW_TOOLSET, optimizationPath } from "./paths.ts";

const REPORT = "/api/optimization/report?format=markdown";

/** What the palette can do whatever there is, with the keys that do the same. */
export const COMMON_ACTIONS: readonly PaletteItem[] = [
  action("help", "keyboard", "Show help: keyboard shortcuts", { key: "?", action: "help" }),
  action("add-server", "servers", "Add a server", { key: "A", href: NEW_SERVER }),
  action("new-toolset", "toolsets", "Make a toolset", { key: "N", href: NEW_TOOLSET }),
  action("optimize-all", "optimization", "Optimize all servers", { key: "O", href: OPTIMIZE_ALL }),
  action("report", "file", "Export the optimization report", { key: "E", download: REPORT }),
  action("clear-log", "activity", "Activity without filters", { key: "L", href: "/activity" }),
  action("light", "sun", "Use the light theme", { action: "theme-light" }),
  action("dark", "moon", "Use the dark theme", { action: "theme-dark" }),
  action("system", "monitor", "Follow the system's theme", { action: "theme-system" }),
  action("theme", "sun", "Switch the theme", { key: "D", action: "theme-switch" }),
  action("rail", "panel", "Collapse or widen the navigation", { action: "rail" }),
  action("backup", "store", "Make a backup, in Settings", { href: "/settings" }),
];

/** What can be done with the servers and toolsets that there are. */
export function indexActions({ servers, toolsets = [] }: PaletteIndex): PaletteItem[] {
  const items: PaletteItem[] = [];
  for (const { name, isEquipped } of toolsets) {
    if (isEquipped) {
      items.push(action("unequip", "toolsets", `Unequip toolset ${name}`, {
        post: { action: "unequip-toolset" },
      }));
    } else {
      items.push(action(`equip:${name}`, "toolsets", `Equip toolset ${name}`, {
        post: { action: "equip-toolset", toolset: name },
      }));
    }
  }
  for (const { name, state } of servers) {
    if (state !== "disabled") {
      items.push(action(`restart:${name}`, "refresh", `Restart server ${name}`, {
        post: { action: "restart-server", server: name },
      }));
    }
    items.push(action(`optimize:${name}`, "optimization", `Optimize server ${name}`, {
      href: optimizationPath(name),
    }));
  }
  return items;
}

function action(
  id: string,
  icon: string,
  label: string,
  more: Pick<PaletteItem, "key" | "action" | "href" | "post" | "download">,
): PaletteItem {
  return { id: `a:${id}`, group: "Actions", icon, label, ...more };
}
