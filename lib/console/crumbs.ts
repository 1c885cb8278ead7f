import { optimizationCrumbs } from "./optimization_crumbs.ts";
import { isCurrentPage, PAGES } from "./ui/pages.ts";
import {
  IMPORT_TOOLSETS,
  NEW_SERVER,
  NEW_TOOLSET,
  pathParts,
  RESTORE_BACKUP,
  serverPath,
  toolsetPath,
} from "./ui/paths.ts";

export interface Crumb {
  label: string;
  /** Missing on the last one: that is where the reader is. */
  href?: string;
  /** A name that comes from a server, shown in the monospace face. */
  isName: boolean;
}

const STEPS: Record<string, string> = {
  [NEW_SERVER]: "Add server",
  [NEW_TOOLSET]: "New toolset",
  [IMPORT_TOOLSETS]: "Import",
  [RESTORE_BACKUP]: "Restore a backup",
  "/security/tokens": "Tokens",
  "/security/projects": "Projects",
  "/security/review": "Review",
  "/security/secrets": "Secrets",
  "/security/audit": "Audit log",
};

const SERVER_STEPS: Record<string, string> = {
  "~tools": "Configure tools",
  "~edit": "Edit",
  "~login": "Log in",
};

/** Where am I: from the page in the rail down to the thing shown. */
export function crumbsOf(pathname: string): Crumb[] {
  const page = PAGES.find((page) => isCurrentPage(page, pathname));
  const parts = pathParts(pathname);
  if (page === undefined || parts === undefined) return [{ label: "Not found", isName: false }];
  const [, name, tool] = parts;
  if (name === undefined) return [{ label: page.label, isName: false }];
  const list = { label: page.label, href: page.path, isName: false };
  if (page.path === "/security") {
    const label = STEPS[pathname] ?? `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
    return [list, { label, isName: false }];
  }
  if (page.path === "/optimization") return [list, ...optimizationCrumbs(name, tool)];
  const step = STEPS[pathname];
  if (step !== undefined) return [list, { label: step, isName: false }];
  if (tool === undefined) return [list, { label: name, isName: true }];
  const serverStep = page.path === "/servers" ? SERVER_STEPS[tool] : undefined;
  if (serverStep !== undefined) {
    return [
      list,
      { label: name, href: serverPath(name), isName: true },
      { label: serverStep, isName: false },
    ];
  }
  if (page.path === "/toolsets") {
    const label = `${tool.slice(0, 1).toUpperCase()}${tool.slice(1)}`;
    return [list, { label: name, href: toolsetPath(name), isName: true }, { label, isName: false }];
  }
  return [
    list,
    {
      label: name,
      href: page.path === "/tools"
        ? `/tools?${new URLSearchParams({ server: name })}`
        : serverPath(name),
      isName: true,
    },
    { label: tool, isName: true },
  ];
}
