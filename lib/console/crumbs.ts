import { isCurrentPage, PAGES } from "./ui/pages.ts";
import { pathParts, serverPath } from "./ui/paths.ts";

export interface Crumb {
  label: string;
  /** Missing on the last one: that is where the reader is. */
  href?: string;
  /** A name that comes from a server, shown in the monospace face. */
  isName: boolean;
}

/** Where am I: from the page in the rail down to the thing shown. */
export function crumbsOf(pathname: string): Crumb[] {
  const page = PAGES.find((page) => isCurrentPage(page, pathname));
  const parts = pathParts(pathname);
  if (page === undefined || parts === undefined) return [{ label: "Not found", isName: false }];
  const [, name, tool] = parts;
  if (name === undefined) return [{ label: page.label, isName: false }];
  const list = { label: page.label, href: page.path, isName: false };
  if (tool === undefined) return [list, { label: name, isName: true }];
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
