import type { ToolsetPageTool } from "../(_page)/model.ts";
import { formatNumber } from "../../../../lib/console/ui/format.ts";
import { toolPath } from "../../../../lib/console/ui/pages.ts";
import { TOOL_WAITS } from "../../../../lib/console/ui/tools.ts";
import type { IconName } from "../../../../components/icon.tsx";
import { Table } from "../../../../components/tables.tsx";
import { InertText } from "../../../../components/text.tsx";
import { StateLabel, type Tone, WaitBadge } from "../../../../components/badges.tsx";

interface Look {
  word: string;
  icon: IconName;
  tone: Tone;
  note?: string;
}

const STATES: Record<ToolsetPageTool["state"], Look> = {
  registered: { word: "Registered", icon: "ready", tone: "ok" },
  waiting: {
    word: "Waiting",
    icon: "pending",
    tone: "warn",
    note: "Its server is disconnected; the tool returns when the server does",
  },
  disabled: { word: "Disabled", icon: "paused", tone: "quiet", note: "Switched off on its server" },
  gone: {
    word: "Gone",
    icon: "error",
    tone: "bad",
    note: "Its server no longer offers it, or was removed",
  },
};

export function ToolsetToolsTable({ tools }: { tools: ToolsetPageTool[] }) {
  return (
    <Table
      caption="Tools of this toolset"
      class="toolset-table"
      columns={[
        <th key="state" scope="col" class="col-state">
          <span>State</span>
        </th>,
        "Tool",
        ["Listed as", "hide-small"],
        ["Tokens", "col-tokens number"],
      ]}
    >
      {tools.map((tool) => <ToolRow key={tool.namespacedName} tool={tool} />)}
    </Table>
  );
}

function ToolRow({ tool }: { tool: ToolsetPageTool }) {
  // Its server lists such a tool, and no client gets it.
  const { word, note, ...look }: Look = tool.state === "gone" && tool.wait !== undefined
    ? { word: "Held", icon: "lock", tone: "warn", note: TOOL_WAITS[tool.wait].meaning }
    : STATES[tool.state];
  const isKnown = tool.tokens !== undefined;
  return (
    <tr data-row>
      <td>
        <StateLabel {...look}>
          <span class="state-word">{word}</span>
        </StateLabel>
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
        {note !== undefined && <p class="muted small">{note}</p>}
        {tool.change && <Change change={tool.change} />}
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

const VERDICTS = {
  breaking: { word: "Breaking", tone: "badge tone-bad", title: "Existing calls may fail" },
  compatible: { word: "Compatible", tone: "badge tone-ok", title: "Existing calls keep working" },
  unknown: { word: "Changed", tone: "badge", title: "The previous version is no longer stored" },
};

function Change({ change }: { change: NonNullable<ToolsetPageTool["change"]> }) {
  const { savedVersion, currentVersion, compatibility, reasons } = change;
  const { word, tone, title } = VERDICTS[compatibility];
  return (
    <div class="small change-note">
      <p>
        <span class={tone} title={title}>{word}</span>{" "}
        <span class="muted">
          {savedVersion === undefined || currentVersion === undefined
            ? "since this toolset was saved"
            : `version ${savedVersion} when saved, ${currentVersion} now`}
        </span>
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
