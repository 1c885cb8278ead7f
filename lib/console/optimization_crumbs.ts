import type { Crumb } from "./crumbs.ts";
import { optimizationPath } from "./ui/paths.ts";

const STEPS: Record<string, string> = { "~all": "All servers", "~jobs": "Job" };

/** What follows "Optimization": a server, one of its tools, or a page that belongs to none. */
export function optimizationCrumbs(name: string, tool: string | undefined): Crumb[] {
  const step = STEPS[name];
  if (step !== undefined) return [{ label: step, isName: false }];
  if (tool === undefined) return [{ label: name, isName: true }];
  return [
    { label: name, href: optimizationPath(name), isName: true },
    { label: tool, isName: true },
  ];
}
