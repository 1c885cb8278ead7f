import { Partial } from "fresh/runtime";
import CommandPalette from "../islands/command_palette.tsx";
import HeaderSummary from "../islands/header_summary.tsx";
import LiveIndicator from "../islands/live_indicator.tsx";
import ThemeSwitch from "../islands/theme_switch.tsx";
import { type Crumb, crumbsOf } from "../lib/console/crumbs.ts";
import type { Frame } from "../lib/console/frame.ts";
import { Icon, Mark } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";

/** Where am I, search, how the gateway is, and how the console looks. */
export function TopBar({ frame, pathname }: { frame: Frame; pathname: string }) {
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

function Crumbs({ crumbs }: { crumbs: Crumb[] }) {
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      <ol>
        {crumbs.map((crumb, index) => (
          <li key={index} class={crumb.isName ? "crumb mono" : "crumb"}>
            {index > 0 && <Icon name="chevronRight" size={12} />}
            {crumb.href === undefined
              ? (
                <span aria-current="page">
                  <InertText text={crumb.label} />
                </span>
              )
              : (
                <a href={crumb.href} aria-current="false">
                  <InertText text={crumb.label} />
                </a>
              )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
