import type { ToolsetPageTool } from "../(_page)/model.ts";
import { formatNumber } from "../../../../lib/console/ui/format.ts";
import { toolPath } from "../../../../lib/console/ui/pages.ts";
import { TOOL_WAITS } from "../../../../lib/console/ui/tools.ts";
import { Icon, type IconName } from "../../../../components/icon.tsx";
import { InertText } from "../../../../components/text.tsx";
import { WaitBadge } from "../../../../components/badges.tsx";

const STATES: Record<ToolsetPageTool["state"], { word: string; icon: IconName; tone: string }> = {
  registered: { word: "Registered", icon: "ready", tone: "ok" },
  waiting: { word: "Waiting", icon: "pending", tone: "warn" },
  disabled: { word: "Disabled", icon: "paused", tone: "quiet" },
  gone: { word: "Gone", icon: "error", tone: "bad" },
};

const KEPT_BACK: typeof STATES.gone = { word: "Kept back", icon: "lock", tone: "warn" };

const NOTES: Record<Exclude<ToolsetPageTool["state"], "registered">, string> = {
  waiting: "Its server is away; it is back when the server is",
  disabled: "Switched off on its server",
  gone: "Its server no longer has it, or is itself removed",
};

/** How each tool of a toolset stands, and what changed about it since the toolset was saved. */
export function ToolsetToolsTable({ tools }: { tools: ToolsetPageTool[] }) {
  return (
    <table class="table toolset-table">
      <caption class="visually-hidden">Tools of this toolset</caption>
      <thead>
        <tr>
          <th scope="col" class="col-state">
            <span>State</span>
          </th>
          <th scope="col">Tool</th>
          <th scope="col" class="hide-small">Called</th>
          <th scope="col" class="col-tokens number">Tokens</th>
        </tr>
      </thead>
      <tbody>
        {tools.map((tool) => <ToolRow key={tool.namespacedName} tool={tool} />)}
      </tbody>
    </table>
  );
}

function ToolRow({ tool }: { tool: ToolsetPageTool }) {
  const isKeptBack = tool.state === "gone" && tool.wait !== undefined;
  const { word, icon, tone } = isKeptBack ? KEPT_BACK : STATES[tool.state];
  const isKnown = tool.tokens !== undefined;
  return (
    <tr data-row>
      <td>
        <span class={`state tone-${tone}`}>
          <Icon name={icon} size={14} />
          <span class="state-word">{word}</span>
        </span>
      </td>
      <td>
        {isKnown
          ? (
            <a class="mono cover strong" href={toolPath(tool.server, tool.tool)} data-row-link>
              <InertText text={tool.namespacedName} />
            </a>
          )
          : <InertText as="span" class="mono" text={tool.namespacedName} />}{" "}
        <WaitBadge server={tool.server} tool={tool.tool} wait={tool.wait} />
        {tool.state !== "registered" && <p class="muted small">{noteOf(tool)}</p>}
        {tool.change === undefined ? null : <Change change={tool.change} />}
      </td>
      <td class="mono hide-small break">
        {tool.name === undefined ? "–" : <InertText text={tool.name} />}
      </td>
      <td class="number">
        {!isKnown ? "–" : tool.tokens === 0 ? "counting" : formatNumber(tool.tokens ?? 0)}
      </td>
    </tr>
  );
}

/** A tool that is kept back is there: its server lists it, and no client gets it. */
function noteOf({ state, wait }: ToolsetPageTool): string {
  if (state === "registered") return "";
  return state === "gone" && wait !== undefined ? TOOL_WAITS[wait].meaning : NOTES[state];
}

const VERDICTS = {
  breaking: { word: "Breaking", tone: "badge tone-bad", title: "Calls as before may fail" },
  compatible: { word: "Compatible", tone: "badge tone-ok", title: "Calls as before go on to work" },
  unknown: { word: "Changed", tone: "badge", title: "What it was before is no longer kept" },
};

function Change({ change }: { change: NonNullable<ToolsetPageTool["change"]> }) {
  const { savedVersion, currentVersion, compatibility, reasons } = change;
  const { word, tone, title } = VERDICTS[compatibility];
  return (
    <div class="small change-note">
      <p>
        <span class={tone} title={title}>{word}</span>{" "}
        <span class="muted">{versionText(savedVersion, currentVersion)}</span>
      </p>
      {reasons.length > 0 && (
        <ul class="change-reasons">
          {reasons.map((reason) => (
            <li key={reason}>
              <InertText text={reason} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function versionText(saved: number | undefined, now: number | undefined): string {
  if (saved === undefined || now === undefined) return "since this toolset was saved";
  return `version ${saved} when saved, ${now} now`;
}
