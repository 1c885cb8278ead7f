import { page } from "fresh";
import { StateLabel } from "../../../../components/badges.tsx";
import { Confirm } from "../../../../components/forms.tsx";
import { Card, Fact, Facts, PageHeader } from "../../../../components/layout.tsx";
import { ErrorState, Notice } from "../../../../components/states.tsx";
import { Ago, At, CopyButton, Exactly, InertText, Since } from "../../../../components/text.tsx";
import { define } from "../../../../lib/console/define.ts";
import {
  endpointMeaning,
  endpointName,
  formatCount,
  formatNumber,
} from "../../../../lib/console/ui/format.ts";
import { callPath, clientPath } from "../../../../lib/console/ui/pages.ts";
import { isIdle } from "../../../../lib/core/client.ts";
import type { ListedClient } from "../../../../lib/operations/clients.ts";
import { ListingBar, ListingTable, ListingText } from "../(_components)/listing.tsx";
import { type ClientPage, clientPage } from "../(_page)/model.ts";

export const handler = define.handlers({ GET: ["read", "manage"] }, {
  async GET(ctx) {
    const found = await clientPage(ctx.state.gateway, ctx.params.id ?? "");
    ctx.state.title = found?.client.name ?? "Client not found";
    return page({ found }, { status: found ? 200 : 404 });
  },
});

/** One client: what its model is listed, and what it searched for and called. */
export default define.page<typeof handler>(function ClientRoute({ data: { found }, state }) {
  if (!found) {
    return (
      <ErrorState
        icon="compass"
        title="Client not found"
        message="It may have disconnected more than an hour ago, or reconnected with a new session."
        code="NOT_FOUND"
        id={state.requestId}
        steps={[]}
        actions={
          <a class="button button-primary" href="/clients" aria-current="false">Show all clients</a>
        }
      />
    );
  }
  const { client } = found;
  return (
    <div class="stack" data-live="sessions calls toolsets tools servers">
      <PageHeader
        title={<InertText text={client.name} />}
        lead={client.endedAt === undefined
          ? isIdle(client)
            ? (
              <StateLabel tone="quiet" icon="paused">
                Idle <Since at={client.lastSeenAt} />: it may have closed without ending its session
              </StateLabel>
            )
            : <StateLabel tone="ok" icon="ready">Connected</StateLabel>
          : (
            <StateLabel tone="quiet" icon="unplugged">
              Disconnected <Ago at={client.endedAt} />
            </StateLabel>
          )}
        action={client.endedAt === undefined ? <Disconnect client={client} /> : undefined}
      />
      <div class="columns">
        <ClientFacts client={client} />
        <Searches page={found} />
      </div>
      {client.listing && <Listed name={client.name} listing={client.listing} />}
    </div>
  );
});

function Disconnect({ client: { id, name } }: { client: ListedClient }) {
  return (
    <Confirm
      id="disconnect-client"
      label="Disconnect"
      subject="this client"
      title={`Disconnect ${name}?`}
      action={`${clientPath(id)}/~disconnect`}
      verb="Disconnect"
      busy="Disconnecting…"
      isDangerous
    >
      Its calls in progress are canceled. It can reconnect; to prevent that, revoke its token.
    </Confirm>
  );
}

function ClientFacts({ client }: { client: ListedClient }) {
  const { id, version, protocolVersion, transport, endpoint, principal, from, lastCall } = client;
  return (
    <Card title="Connection">
      <Facts>
        {version !== undefined && (
          <Fact name="Version">
            <InertText text={version} />
          </Fact>
        )}
        <Fact name="Endpoint">
          <InertText as="span" class="mono" text={endpointName(endpoint)} />
          <EndpointMeaning endpoint={endpoint} />
        </Fact>
        <Fact name="Protocol">
          {`MCP ${protocolVersion} over ${transport === "stdio" ? "stdio" : "HTTP"}`}
        </Fact>
        <Fact name="Token">
          <InertText text={principal} />
        </Fact>
        {from !== undefined && <Fact name="Address">{from}</Fact>}
        <Fact name="Connected">
          <Exactly at={client.connectedAt} />
        </Fact>
        <Fact name="Last request">
          <Ago at={client.lastSeenAt} />
        </Fact>
        <Fact name="Calls">
          <a href={`/activity?session=${id}&kind=call`}>{formatCount(client.calls, "call")}</a>
          {client.errors > 0 && (
            <StateLabel tone="bad" icon="error">{formatCount(client.errors, "error")}</StateLabel>
          )}
        </Fact>
        <Fact name="Last call">
          {lastCall === undefined ? "None yet" : (
            <>
              <InertText as="span" class="mono" text={`${lastCall.server}.${lastCall.tool}`} />
              <Ago at={lastCall.at} />
            </>
          )}
        </Fact>
        <Fact name="ID">
          <span class="mono">{id}</span>
          <CopyButton value={id} label="Copy client ID" />
        </Fact>
      </Facts>
    </Card>
  );
}

function EndpointMeaning({ endpoint }: { endpoint: string }) {
  const meaning = endpointMeaning(endpoint);
  return meaning && (
    <p class="muted small">
      <InertText text={meaning.whole} /> <code>docs/clients.md</code> explains every endpoint.
    </p>
  );
}

function Searches({ page: { client, searches } }: { page: ClientPage }) {
  return (
    <Card
      title="Searches"
      aside={<a href={`/activity?session=${client.id}&kind=search`}>Show all</a>}
      isFlush
    >
      {searches.length === 0
        ? <p class="card-lead muted">This client has not searched for tools yet.</p>
        : (
          <ul class="rows">
            {searches.map(({ id, at, search }) => (
              <li key={id} class="row row-link" data-row>
                <div class="row-text cut">
                  <a class="cover" href={callPath(id)} data-row-link>
                    <InertText text={`“${search?.query}”`} />
                  </a>
                  <p class="muted small cut">
                    {search?.isHit ? `${formatNumber(search.count)} found` : "Nothing found"}
                    {search?.picks?.[0] && (
                      <>
                        , called{" "}
                        <InertText
                          as="span"
                          class="mono"
                          text={`${search.picks[0].server}.${search.picks[0].tool}`}
                        />
                      </>
                    )}
                  </p>
                </div>
                <span class="row-number">
                  <At at={at} />
                </span>
              </li>
            ))}
          </ul>
        )}
    </Card>
  );
}

function Listed(
  { name, listing }: { name: string; listing: NonNullable<ListedClient["listing"]> },
) {
  const { tools, limit } = listing;
  return (
    <Card title="Tools listed to its model" aside={<ListingText listing={listing} />} isFlush>
      <div class="card-lead">
        {limit !== undefined && tools > limit && (
          <Notice tone="warn" role={null}>
            {`${
              formatCount(tools - limit, "tool")
            } above the ${limit}-tool limit of ${name}. Equip a smaller toolset.`}
          </Notice>
        )}
        <ListingBar listing={listing} whole={Math.max(1, listing.tokens)} />
      </div>
      <ListingTable listing={listing} />
    </Card>
  );
}
