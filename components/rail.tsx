import { Partial } from "fresh/runtime";
import NavCount from "../islands/nav_count.tsx";
import RailToggle from "../islands/rail_toggle.tsx";
import type { Frame } from "../lib/console/frame.ts";
import { type ConsolePage, isCurrentPage, PAGES } from "../lib/console/ui/pages.ts";
import { Icon, Mark } from "./icon.tsx";

interface RailProps {
  frame: Frame;
  pathname: string;
}

/** The way to every page, at the left edge. */
export function Rail({ frame, pathname }: RailProps) {
  return (
    <nav class="rail" id="rail" aria-label="Main">
      <a class="brand" href="/" aria-current="false">
        <Mark />
        <span class="nav-word">Quartermaster</span>
      </a>
      <Partial name="rail">
        <ul class="nav-list">
          {PAGES.map((page) => (
            <li key={page.path}>
              <NavLink page={page} frame={frame} pathname={pathname} />
            </li>
          ))}
        </ul>
      </Partial>
      <div class="rail-foot">
        <RailToggle />
        <span class="rail-version nav-word">v{frame.version}</span>
      </div>
    </nav>
  );
}

const IN_BAR = 4;

/** The same on a small screen, at the lower edge; what has no room there is behind "More". */
export function BottomBar({ frame, pathname }: RailProps) {
  const isMoreCurrent = PAGES.slice(IN_BAR).some((page) => isCurrentPage(page, pathname));
  return (
    <nav class="bottom-bar" aria-label="Main, small screen">
      <Partial name="bottom-bar">
        <ul class="bottom-list">
          {PAGES.slice(0, IN_BAR).map((page) => (
            <li key={page.path}>
              <NavLink page={page} frame={frame} pathname={pathname} />
            </li>
          ))}
          <li>
            <button
              type="button"
              class={isMoreCurrent ? "nav-link is-current" : "nav-link"}
              popovertarget="more-pages"
            >
              <Icon name="more" />
              <span class="nav-word">More</span>
            </button>
          </li>
        </ul>
        <ul class="more-pages" id="more-pages" popover="auto">
          {PAGES.slice(IN_BAR).map((page) => (
            <li key={page.path}>
              <NavLink page={page} frame={frame} pathname={pathname} />
            </li>
          ))}
        </ul>
      </Partial>
    </nav>
  );
}

const COUNTED: { [path: string]: "servers" | "tools" | "toolsets" | "security" | undefined } = {
  "/servers": "servers",
  "/tools": "tools",
  "/toolsets": "toolsets",
  "/security": "security",
};

function NavLink({ page, frame, pathname }: RailProps & { page: ConsolePage }) {
  // Always set: left alone, the framework marks "/" as an ancestor of every page.
  const current = !isCurrentPage(page, pathname)
    ? "false"
    : page.path === pathname
    ? "page"
    : "true";
  const kind = COUNTED[page.path];
  return (
    <a class="nav-link" href={page.path} aria-current={current} title={page.label}>
      <Icon name={page.icon} />
      <span class="nav-word">{page.label}</span>
      {kind === undefined ? null : <NavCount kind={kind} counts={frame.counts} />}
    </a>
  );
}
