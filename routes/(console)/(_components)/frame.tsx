import { Partial } from "fresh/runtime";
import {
  CommandPalette,
  HeaderSummary,
  LiveIndicator,
  NavCount,
  RailToggle,
  ThemeSwitch,
} from "../../../islands/frame.tsx";
import { type Crumb, crumbsOf, type Frame } from "../../../lib/console/frame.ts";
import { type ConsolePage, isCurrentPage, PAGES } from "../../../lib/console/ui/pages.ts";
import { Icon, Mark } from "../../../components/icon.tsx";
import { InertText } from "../../../components/text.tsx";

interface FrameProps {
  frame: Frame;
  pathname: string;
}

export function Rail({ frame, pathname }: FrameProps) {
  return (
    <nav class="rail" id="rail" aria-label="Main">
      <a class="brand" href="/" aria-current="false">
        <Mark />
        <span class="nav-word">Quartermaster</span>
      </a>
      <Partial name="rail">
        <ul class="nav-list">
          <NavLinks pages={PAGES} frame={frame} pathname={pathname} />
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
export function BottomBar({ frame, pathname }: FrameProps) {
  const isMoreCurrent = PAGES.slice(IN_BAR).some((page) => isCurrentPage(page, pathname));
  return (
    <nav class="bottom-bar" aria-label="Main, small screen">
      <Partial name="bottom-bar">
        <ul class="bottom-list">
          <NavLinks pages={PAGES.slice(0, IN_BAR)} frame={frame} pathname={pathname} />
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
          <NavLinks pages={PAGES.slice(IN_BAR)} frame={frame} pathname={pathname} />
        </ul>
      </Partial>
    </nav>
  );
}

const COUNTED = ["servers", "tools", "toolsets", "security"] as const;

function NavLinks({ pages, frame, pathname }: FrameProps & { pages: readonly ConsolePage[] }) {
  return pages.map((page) => {
    // Always set: left alone, the framework marks "/" as an ancestor of every page.
    const current = !isCurrentPage(page, pathname)
      ? "false"
      : page.path === pathname
      ? "page"
      : "true";
    const kind = COUNTED.find((kind) => page.path === `/${kind}`);
    return (
      <li key={page.path}>
        <a class="nav-link" href={page.path} aria-current={current} title={page.label}>
          <Icon name={page.icon} />
          <span class="nav-word">{page.label}</span>
          {kind && <NavCount kind={kind} counts={frame.counts} />}
        </a>
      </li>
    );
  });
}

export function TopBar({ frame, pathname }: FrameProps) {
  return (
    <header class="top-bar">
      <a class="top-mark" href="/" aria-current="false" aria-label="Quartermaster, dashboard">
        <Mark />
      </a>
      <Partial name="crumbs">
        <Crumbs crumbs={crumbsOf(pathname)} />
      </Partial>
      <div class="top-tools">
        {/* First, so that its changing width moves nothing else. */}
        <LiveIndicator madeAt={frame.madeAt} />
        <CommandPalette />
        <HeaderSummary
          counts={frame.counts}
          place={frame.place}
          isOptimizing={frame.isOptimizing}
        />
        <ThemeSwitch />
      </div>
    </header>
  );
}

/** The way back: the page's own title says where one is. */
function Crumbs({ crumbs }: { crumbs: Crumb[] }) {
  const above = crumbs.filter(({ href }) => href !== undefined);
  if (above.length === 0) return <div class="crumbs" />;
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      <ol>
        {above.map(({ label, href, isName }, index) => (
          <li key={href} class={isName ? "crumb mono" : "crumb"}>
            <Icon name={index === 0 ? "chevronLeft" : "chevronRight"} size={12} />
            <a href={href} aria-current="false">
              <InertText text={label} />
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
