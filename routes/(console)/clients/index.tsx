import { page } from "fresh";
import { StateLabel } from "../../../components/badges.tsx";
import { ClientSnippets } from "../../../components/client_snippets.tsx";
import { Card, PageHeader } from "../../../components/layout.tsx";
import { EmptyState } from "../../../components/states.tsx";
import { Table } from "../../../components/tables.tsx";
import { Ago, At, InertText, Since } from "../../../components/text.tsx";
import { define } from "../../../lib/console/define.ts";
import {
  endpointMeaning,
  endpointName,
  formatCount,
  formatNumber,
  inertString,
} from "../../../lib/console/ui/format.ts";
import { clientPath } from "../../../lib/console/ui/pages.ts";
import { isIdle } from "../../../lib/core/client.ts";
import type { ListedClient } from "../../../lib/operations/clients.ts";
import { ListingBar, ListingText } from "./(_components)/listing.tsx";
import { type ClientsPage, clientsPage } from "./(_page)/model.ts";

export const handler = define.handlers({ GET: ["read", "manage"] }, {
  async GET(ctx) {
    ctx.state.title = "Clients";
    return page(await clientsPage(ctx.state.gateway));
  },
});

/** Who is connected, and what each model is listed. */
export default define.page<typeof handler>(function ClientsRoute({ data: page }) {
  const { connected, idle, ended } = page;
  return (
    <div class="stack" data-live="sessions calls toolsets tools servers">
      <PageHeader
        title="Clients"
        lead={`${formatCount(connected.length, "client")} connected${
          idle.length === 0 ? "" : `, ${formatNumber(idle.length)} idle`
        }`}
      />
      {connected.length + idle.length === 0
        ? (
          <EmptyState icon="monitor" title="No clients connected">
            Clients such as Claude Code and Cursor appear here when they connect, with the tools
            listed to their models and what those cost in tokens.
          </EmptyState>
        )
        : connected.length > 0 && (
          <Card title="Connected" isFlush>
            <ClientsTable clients={connected} page={page} caption="Connected clients" />
          </Card>
        )}
      {idle.length > 0 && (
        <Card title="Idle" aside="nothing received for 5 minutes or more" isFlush>
          <p class="card-lead muted small">
            These clients have no open connection. Some clients close without ending their session;
            the session ends by itself after 30 minutes.
          </p>
          <ClientsTable clients={idle} page={page} caption="Idle clients" />
        </Card>
      )}
      {ended.length > 0 && (
        <Card title="Disconnected within the last hour" isFlush>
          <ClientsTable clients={ended} page={page} caption="Disconnected clients" />
        </Card>
      )}
      <ClientSnippets endpoint={page.endpoint} snippets={page.snippets} />
    </div>
  );
});

function ClientsTable(
  { clients, page, caption }: { clients: ListedClient[]; page: ClientsPage; caption: string },
) {
  return (
    <Table
      caption={caption}
      class="clients-table"
      columns={[
        "Client",
        ["Endpoint", "col-endpoint"],
        ["Listed to its model", "col-listing"],
        ["Calls", "number col-count"],
        ["Searches", "number col-count col-searches"],
        ["Last call", "col-last"],
        [caption === "Disconnected clients" ? "Disconnected" : "Last request", "col-seen"],
      ]}
    >
      {clients.map((client) => <ClientRow key={client.id} client={client} page={page} />)}
    </Table>
  );
}

function ClientRow({ client, page }: { client: ListedClient; page: ClientsPage }) {
  const { id, name, version = "", listing, lastCall, endpoint, errors } = client;
  return (
    <tr data-row>
      <td class="cut" title={inertString(`${name} ${version}`)}>
        <a class="cover strong" href={clientPath(id)} data-row-link>
          <InertText text={name} />
        </a>{" "}
        <InertText as="span" class="muted" text={version} />
        <span class="sub-line">
          {`MCP ${client.protocolVersion}, ${client.transport === "stdio" ? "stdio" : "HTTP"}`}
        </span>
      </td>
      <td class="cut col-endpoint" title={endpointTitle(endpoint)}>
        <InertText as="span" class="mono" text={endpointName(endpoint)} />
        <span class="sub-line">{endpointMeaning(endpoint)?.short}</span>
      </td>
      <td class="col-listing">
        {listing && (
          <>
            <ListingBar listing={listing} whole={page.mostTokens} />
            <ListingText listing={listing} />
          </>
        )}
      </td>
      <td class="number col-count">
        {formatNumber(client.calls)}
        {errors > 0 && (
          <StateLabel tone="bad" icon="error" title={formatCount(errors, "error")}>
            {formatNumber(errors)}
          </StateLabel>
        )}
      </td>
      <td class="number col-count col-searches">{formatNumber(client.searches)}</td>
      <td class="cut mono col-last">
        {lastCall && <InertText text={`${lastCall.server}.${lastCall.tool}`} />}
      </td>
      <td class="col-seen">
        {isIdle(client)
          ? (
            <>
              idle <Since at={client.lastSeenAt} />
            </>
          )
          : <Ago at={client.endedAt ?? client.lastSeenAt} />}
        <span class="sub-line">
          connected <At at={client.connectedAt} />
        </span>
      </td>
    </tr>
  );
}

function endpointTitle(endpoint: string): string {
  const meaning = endpointMeaning(endpoint);
  return inertString([endpointName(endpoint), ...(meaning ? [meaning.whole] : [])].join(": "));
}
