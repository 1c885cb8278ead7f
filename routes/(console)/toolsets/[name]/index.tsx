import { page } from "fresh";
import { BusyForms } from "../../../../islands/forms.tsx";
import { RefreshSoon } from "../../../../islands/frame.tsx";
import { type ToolsetPage, toolsetPage } from "../(_page)/model.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { cloneToolset, pathParts, toolsetPath } from "../../../../lib/console/ui/pages.ts";
import { Ago, InertText } from "../../../../components/text.tsx";
import { Card, Fact, Facts, PageHeader, SideList } from "../../../../components/layout.tsx";
import { ClientSnippets } from "../../../../components/client_snippets.tsx";
import {
  DeleteToolset,
  EquipEffect,
  EquipToolset,
  SeenBy,
  UnequipToolset,
} from "../(_components)/equip.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { Pager } from "../../../../components/tables.tsx";
import { TokensChip } from "../../../../components/badges.tsx";
import { ToolsetToolsTable } from "../(_components)/tools_table.tsx";
import { Missing } from "../../../../components/states.tsx";
import { define } from "../../../../lib/console/define.ts";
import { PostForm } from "../../../../components/forms.tsx";

export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    const name = pathParts(ctx.url.pathname)?.[1] ?? "";
    const found = await toolsetPage(
      ctx.state.gateway,
      name,
      ctx.url.searchParams,
      ctx.state.principal,
    );
    ctx.state.title = "missing" in found ? "Toolset not found" : name;
    return page(found, { status: "missing" in found ? 404 : 200 });
  },
});

export default define.page<typeof handler>(function ToolsetRoute({ data, state, url }) {
  if ("missing" in data) {
    return (
      <Missing
        what="toolset"
        name={data.missing}
        nearest={data.nearest.map((name) => ({ name, href: toolsetPath(name) }))}
        code="NOT_FOUND"
        id={state.requestId}
        listHref="/toolsets"
      />
    );
  }
  return (
    <div data-live="servers toolsets sessions">
      <ToolsetDetail page={data} url={url} />
    </div>
  );
});

/** One toolset: what is in it, how each tool stands, who sees it and where clients reach it. */
function ToolsetDetail({ page, url }: { page: ToolsetPage; url: URL }) {
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
            <Fact name="Its own endpoint">
              <span>
                <SeenBy
                  audience={page.atEndpoint}
                  tools={registered}
                  at={`/toolsets/${name}/mcp`}
                />
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
        <ClientSnippets endpoint={page.endpoint} snippets={page.snippets} isFolded />
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
          ? "As far as we can tell, existing calls keep working."
          : `Existing calls may fail with ${changed.breaking} of them.`}
      </span>
      <PostForm
        action={`${toolsetPath(toolset.name)}/edit`}
        busy="Saving…"
        fields={{ description: toolset.description ?? "", version, tools: JSON.stringify(names) }}
      >
        <button type="submit" class="button">Accept changes</button>
      </PostForm>
    </div>
  );
}
