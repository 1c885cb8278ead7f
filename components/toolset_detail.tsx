import BusyForms from "../islands/busy_forms.tsx";
import RefreshSoon from "../islands/refresh_soon.tsx";
import type { ToolsetPage } from "../lib/console/toolset_page.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { cloneToolset, toolsetPath } from "../lib/console/ui/paths.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { ClientSnippets } from "./client_snippets.tsx";
import { EquipEffect, SeenBy } from "./equip_effect.tsx";
import { Fact, Facts } from "./facts.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { PageHeader } from "./page_header.tsx";
import { Pager } from "./pager.tsx";
import { SideList } from "./side_list.tsx";
import { TokensChip } from "./tokens_chip.tsx";
import { DeleteToolset, EquipToolset, UnequipToolset } from "./toolset_actions.tsx";
import { ToolsetToolsTable } from "./toolset_tools_table.tsx";

/** One toolset: what is in it, how each tool stands, who sees it and where clients reach it. */
export function ToolsetDetail({ page, url }: { page: ToolsetPage; url: URL }) {
  const { toolset, tools, isEquipped, equipped, audience } = page;
  const { name, description = "", registered, toolCount, tokens, updatedAt } = toolset;
  return (
    <div class="split">
      <BusyForms />
      <SideList
        title="Toolsets"
        total={page.total}
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
          action={isEquipped
            ? <UnequipToolset name={name} tools={registered} audience={audience} />
            : (
              <EquipToolset
                name={name}
                tools={registered}
                audience={audience}
                isPrimary
                {...(equipped ? { other: equipped } : {})}
              />
            )}
        />
        {toolset.notes.length > 0 && (
          <div class="notice tone-warn">
            <Icon name="alert" size={14} />
            <div>{toolset.notes.map((note) => <p key={note}>{note}</p>)}</div>
          </div>
        )}
        {tokens === undefined && <RefreshSoon madeAt={Date.now()} />}
        <Card>
          <Facts>
            <Fact name="Tools">
              <span>{registered} of {formatCount(toolCount, "tool")} registered</span>
            </Fact>
            <Fact name="Cost">
              <TokensChip tokens={tokens} />
            </Fact>
            <Fact name={isEquipped ? "Equipped" : "When equipped"}>
              <span class="effect" role="status">
                {isEquipped
                  ? <SeenBy audience={audience} tools={registered} at="/mcp" />
                  : (
                    <EquipEffect
                      audience={audience}
                      tools={registered}
                      before={equipped?.registered ?? 0}
                    />
                  )}
              </span>
            </Fact>
            <Fact name="Its own door">
              <span>
                <SeenBy audience={page.atDoor} tools={registered} at={`/toolsets/${name}/mcp`} />
              </span>
            </Fact>
            <Fact name="Saved">
              <Ago at={updatedAt} />
            </Fact>
          </Facts>
          <div class="form-actions">
            <a class="button" href={`${toolsetPath(name)}/edit`}>Edit</a>
            <a class="button" href={cloneToolset(name)}>Clone</a>
            <a class="button" href={`${toolsetPath(name)}/export`} f-client-nav={false} download>
              Export
            </a>
            <DeleteToolset name={name} tools={toolCount} isEquipped={isEquipped} />
          </div>
        </Card>
        {page.changed.count > 0 && <AcceptChanges page={page} />}
        <Card title="Tools" aside={formatCount(tools.total, "tool")} isFlush>
          <ToolsetToolsTable tools={tools.rows} />
          <Pager list={tools} url={url} noun="tools" />
        </Card>
        <ClientSnippets door={page.door} snippets={page.snippets} />
      </article>
    </div>
  );
}

/** Saving it anew takes each tool as it is now. */
function AcceptChanges({ page: { toolset, version, names, changed } }: { page: ToolsetPage }) {
  return (
    <div class={changed.breaking > 0 ? "notice tone-warn" : "notice"}>
      <Icon name={changed.breaking > 0 ? "alert" : "info"} size={14} />
      <span>
        {formatCount(changed.count, "tool has", "tools have")} changed since this toolset was saved.
        {" "}
        {changed.breaking === 0
          ? "Calls as before go on to work, as far as is known."
          : `Calls as before may fail with ${changed.breaking} of them.`}
      </span>
      <form
        method="post"
        action={`${toolsetPath(toolset.name)}/edit`}
        f-client-nav={false}
        data-busy="Saving…"
      >
        <input type="hidden" name="description" value={toolset.description ?? ""} />
        <input type="hidden" name="version" value={version} />
        <input type="hidden" name="tools" value={JSON.stringify(names)} />
        <button type="submit" class="button">Accept the changes</button>
      </form>
    </div>
  );
}
