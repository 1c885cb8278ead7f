import { page } from "fresh";
import { BusyForms } from "../../../islands/forms.tsx";
import { RefreshSoon } from "../../../islands/frame.tsx";
import { type ToolsetRow, type ToolsetsPage, toolsetsPage } from "./(_page)/model.ts";
import { formatCount, formatNumber, inertString } from "../../../lib/console/ui/format.ts";
import { EXPORT_TOOLSETS, NEW_TOOLSET, toolsetPath } from "../../../lib/console/ui/pages.ts";
import { Card, PageHeader } from "../../../components/layout.tsx";
import { EmptyState } from "../../../components/states.tsx";
import { DeleteToolset, EquipToolset, SeenBy, UnequipToolset } from "./(_components)/equip.tsx";
import { Icon } from "../../../components/icon.tsx";
import { InertText } from "../../../components/text.tsx";
import { Pager } from "../../../components/tables.tsx";
import { ImportForm } from "./(_components)/import.tsx";
import { define } from "../../../lib/console/define.ts";

export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    ctx.state.title = "Toolsets";
    return page(await toolsetsPage(ctx.state.gateway, ctx.url.searchParams, ctx.state.principal));
  },
});

/** All toolsets, and what can be done with each. */
export default define.page<typeof handler>(function ToolsetsPage({ data: page, url }) {
  const { list: { rows, total }, equipped, available } = page;
  return (
    <div class="stack" data-live="servers toolsets sessions">
      <BusyForms />
      <PageHeader
        title="Toolsets"
        lead={total === 0 ? "Saved selections of tools, one of which can be listed to clients" : (
          <>
            {formatCount(total, "toolset")};{" "}
            {equipped === undefined ? "none equipped" : (
              <span class="effect" role="status">
                <span class="mono">{equipped.name}</span> is equipped.{" "}
                <SeenBy audience={page.audience} tools={equipped.registered} at="/mcp" />
              </span>
            )}
          </>
        )}
        {...(available === 0
          ? {}
          : { action: <a class="button button-primary" href={NEW_TOOLSET}>New toolset</a> })}
      />
      {rows.some(({ tokens }) => tokens === undefined) && <RefreshSoon madeAt={Date.now()} />}
      {rows.length > 0 ? <ToolsetsTable page={page} url={url} /> : (
        <EmptyState
          icon="toolsets"
          title="No toolsets yet"
          actions={available === 0
            ? <a class="button" href="/servers">Show servers</a>
            : <a class="button" href={NEW_TOOLSET}>Create a toolset</a>}
        >
          A toolset is a selection of tools from any of your servers. Equip it to list only these
          and the gateway's own tools at <code>/mcp</code>; clients can search for all others.{" "}
          {available === 0
            ? "There are no tools yet: connect a server first."
            : `There are ${formatCount(available, "tool")} to choose from.`}
        </EmptyState>
      )}
      <Card title="Import and export">
        <details class="edit-words">
          <summary>Import from a file or from text</summary>
          <ImportForm text="" />
        </details>
        {rows.length > 0 && (
          <p class="form-actions">
            <a class="button" href={EXPORT_TOOLSETS} f-client-nav={false} download>
              Export all toolsets
            </a>
          </p>
        )}
      </Card>
    </div>
  );
});

function ToolsetsTable({ page, url }: { page: ToolsetsPage; url: URL }) {
  return (
    <Card isFlush>
      <table class="table toolsets-table">
        <caption class="visually-hidden">Toolsets</caption>
        <thead>
          <tr>
            <th scope="col" class="col-name">Name</th>
            <th scope="col" class="hide-small">Description</th>
            <th scope="col" class="col-count number">Tools</th>
            <th scope="col" class="col-tokens number hide-small">Tokens</th>
            <th scope="col" class="col-actions">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {page.list.rows.map((row) => <Row key={row.name} row={row} page={page} />)}
        </tbody>
      </table>
      <Pager list={page.list} url={url} noun="toolsets" />
    </Card>
  );
}

function Row({ row, page }: { row: ToolsetRow; page: ToolsetsPage }) {
  const { name, description = "", registered, toolCount, tokens, isEquipped, notes } = row;
  const { audience } = page;
  const other = isEquipped ? undefined : page.equipped;
  return (
    <tr data-row>
      <td>
        <a class="mono cover strong" href={toolsetPath(name)} data-row-link>{name}</a>
        {isEquipped && (
          <span class="badge tone-ok">
            <Icon name="check" size={12} />
            Equipped
          </span>
        )}
      </td>
      <td class="hide-small muted">
        {description !== "" && (
          <p class="cut" title={inertString(description)}>
            <InertText text={description} />
          </p>
        )}
        {notes.map((note) => (
          <p key={note} class="warning small">
            <Icon name="alert" size={12} />
            <span>{note}</span>
          </p>
        ))}
      </td>
      <td class="number" title={`${registered} of ${toolCount} can be called now`}>
        {formatNumber(registered)}/{formatNumber(toolCount)}
      </td>
      <td class="number hide-small">
        {tokens === undefined ? "counting" : formatNumber(tokens)}
      </td>
      <td>
        <div class="actions">
          {isEquipped
            ? <UnequipToolset name={name} tools={registered} audience={audience} />
            : (
              <EquipToolset
                name={name}
                tools={registered}
                audience={audience}
                {...(other ? { other } : {})}
              />
            )}
          <span class="hide-small">
            <DeleteToolset name={name} tools={toolCount} isEquipped={isEquipped} />
          </span>
        </div>
      </td>
    </tr>
  );
}
