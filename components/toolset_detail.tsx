import type { ToolsetPage, ToolsetPageTool } from "../lib/console/toolset_page.ts";
import { formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { toolPath, toolsetPath } from "../lib/console/ui/paths.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { CodeBlock } from "./code_block.tsx";
import { CopyButton } from "./copy_button.tsx";
import { Fact, Facts } from "./facts.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { PageHeader } from "./page_header.tsx";
import { SideList } from "./side_list.tsx";
import { TokensChip } from "./tokens_chip.tsx";
import { DeleteToolset, EquipToolset, UnequipToolset } from "./toolset_actions.tsx";

/** One toolset: what is in it, how each tool stands, and where clients reach it. */
export function ToolsetDetail({ page }: { page: ToolsetPage }) {
  const { toolset, tools, isEquipped, equipped, door } = page;
  const { name, description = "", registered, toolCount, tokens, updatedAt } = toolset;
  return (
    <div class="split">
      <SideList
        title="Toolsets"
        total={page.neighbors.length}
        allHref="/toolsets"
        current={name}
        entries={page.neighbors.map((name) => ({ name, href: toolsetPath(name) }))}
      />
      <article class="detail">
        <PageHeader
          title={
            <span class="title-name">
              <span class="mono">{name}</span>
              {isEquipped && (
                <span class="badge tone-ok">
                  <Icon name="check" size={12} />
                  Equipped
                </span>
              )}
            </span>
          }
          {...(description === "" ? {} : { lead: <InertText text={description} /> })}
          action={isEquipped ? <UnequipToolset name={name} tools={registered} /> : (
            <EquipToolset
              name={name}
              tools={registered}
              isPrimary
              {...(equipped ? { other: equipped } : {})}
            />
          )}
        />
        {page.notes.length > 0 && (
          <div class="notice tone-warn">
            <Icon name="alert" size={14} />
            <div>{page.notes.map((note) => <p key={note}>{note}</p>)}</div>
          </div>
        )}
        <Card>
          <Facts>
            <Fact name="Tools">
              <span>{registered} of {formatCount(toolCount, "tool")} registered</span>
            </Fact>
            <Fact name="Cost">
              <TokensChip tokens={tokens} />
            </Fact>
            <Fact name="Door">
              <span class="mono">{door}</span>
              <CopyButton value={door} label="Copy the door's address" />
            </Fact>
            <Fact name="Saved">
              <Ago at={updatedAt} />
            </Fact>
          </Facts>
          <div class="form-actions">
            <a class="button" href={`${toolsetPath(name)}/edit`}>Edit</a>
            <a class="button" href={`${toolsetPath(name)}/export`} f-client-nav={false} download>
              Export
            </a>
            <DeleteToolset name={name} tools={toolCount} isEquipped={isEquipped} />
          </div>
        </Card>
        {page.changed > 0 && <AcceptChanges page={page} />}
        <Card title="Tools" aside={formatCount(tools.length, "tool")} isFlush>
          <ToolsTable tools={tools} />
        </Card>
        <Card title="Use it in a client">
          <p class="muted">
            A client with this address has exactly these tools, whatever is equipped. The command
            writes it into Claude Code's config; <code>cursor</code> and <code>vscode</code>{" "}
            work as well.
          </p>
          <CodeBlock
            code={`deno task cli connect claude-code --toolset ${name} --write`}
            label="command that connects a client"
          />
        </Card>
      </article>
    </div>
  );
}

/** Saving it anew takes each tool as it is now. */
function AcceptChanges({ page }: { page: ToolsetPage }) {
  const { toolset, tools, changed } = page;
  return (
    <div class="notice">
      <Icon name="info" size={14} />
      <span>
        {formatCount(changed, "tool has", "tools have")} changed since this toolset was saved.
      </span>
      <form method="post" action={`${toolsetPath(toolset.name)}/edit`} f-client-nav={false}>
        <input type="hidden" name="description" value={toolset.description ?? ""} />
        {tools.map(({ namespacedName }) => (
          <input key={namespacedName} type="hidden" name="tool" value={namespacedName} />
        ))}
        <button type="submit" class="button">Accept the changes</button>
      </form>
    </div>
  );
}

const STATES: Record<ToolsetPageTool["state"], { word: string; icon: IconName; tone: string }> = {
  registered: { word: "Registered", icon: "ready", tone: "ok" },
  waiting: { word: "Waiting", icon: "pending", tone: "warn" },
  disabled: { word: "Disabled", icon: "paused", tone: "quiet" },
  gone: { word: "Gone", icon: "error", tone: "bad" },
};

const NOTES: Record<Exclude<ToolsetPageTool["state"], "registered">, string> = {
  waiting: "Its server is away; it is back when the server is",
  disabled: "Switched off on its server",
  gone: "Its server no longer has it, or is itself removed",
};

function ToolsTable({ tools }: { tools: ToolsetPageTool[] }) {
  return (
    <table class="table toolset-table">
      <caption class="visually-hidden">Tools of this toolset</caption>
      <thead>
        <tr>
          <th scope="col" class="col-state">State</th>
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
  const { word, icon, tone } = STATES[tool.state];
  const isKnown = tool.tokens !== undefined;
  return (
    <tr data-row>
      <td>
        <span class={`state tone-${tone}`}>
          <Icon name={icon} size={14} />
          {word}
        </span>
      </td>
      <td>
        {isKnown
          ? (
            <a class="mono cover strong" href={toolPath(tool.server, tool.tool)} data-row-link>
              <InertText text={tool.namespacedName} />
            </a>
          )
          : (
            <span class="mono">
              <InertText text={tool.namespacedName} />
            </span>
          )}
        {tool.state !== "registered" && <p class="muted small">{NOTES[tool.state]}</p>}
        {tool.change === undefined ? null : <Change change={tool.change} />}
      </td>
      <td class="mono hide-small break">
        {tool.name === undefined ? "–" : <InertText text={tool.name} />}
      </td>
      <td class="number">{isKnown ? formatNumber(tool.tokens ?? 0) : "–"}</td>
    </tr>
  );
}

function Change({ change }: { change: NonNullable<ToolsetPageTool["change"]> }) {
  const { savedVersion, currentVersion, compatibility, reasons } = change;
  const version = (number: number | undefined) => number === undefined ? "?" : `v${number}`;
  return (
    <div class="small change-note">
      <p>
        <span
          class={compatibility === "breaking"
            ? "badge tone-bad"
            : compatibility === "compatible"
            ? "badge tone-ok"
            : "badge"}
        >
          {compatibility === "unknown" ? "Changed" : word(compatibility)}
        </span>{" "}
        <span class="muted">
          saved {version(savedVersion)}, now {version(currentVersion)}
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

function word(compatibility: "breaking" | "compatible"): string {
  return compatibility === "breaking" ? "Breaking" : "Compatible";
}
