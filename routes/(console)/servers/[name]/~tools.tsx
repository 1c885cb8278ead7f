import { page } from "fresh";
import { Card, PageHeader } from "../../../../components/layout.tsx";
import { EmptyState } from "../../../../components/states.tsx";
import { FormFailure } from "../../../../components/forms.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { InertText } from "../../../../components/text.tsx";
import { BusyForms } from "../../../../islands/forms.tsx";
import { RefreshSoon } from "../../../../islands/frame.tsx";
import { runFor } from "../../../../lib/console/api.ts";
import { define, formOf } from "../../../../lib/console/define.ts";
import { formError, submitForm } from "../../../../lib/console/errors.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { serverPath } from "../../../../lib/console/ui/pages.ts";
import { SERVER_OPERATIONS } from "../../../../lib/operations/servers.ts";
import { ToolChoice } from "./(_islands)/tool_choice.tsx";
import {
  readToolChoice,
  selectionOf,
  type ServerToolsPage,
  serverToolsPage,
} from "./(_page)/model.ts";

export const handler = define.handlers({ GET: ["read"], POST: ["manage"] }, {
  async GET(ctx) {
    const name = ctx.params.name ?? "";
    const found = await serverToolsPage(ctx.state.gateway, name, ctx.url.searchParams);
    ctx.state.title = `Configure tools: ${name}`;
    return page<ServerToolsPage>(found);
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const name = ctx.params.name ?? "";
    const written = readToolChoice(await formOf(ctx));
    ctx.state.title = `Configure tools: ${name}`;
    return await submitForm<ServerToolsPage>(ctx, async () => {
      const tools = selectionOf(gateway.admin.enabledTools(name), written);
      await runFor(ctx, SERVER_OPERATIONS.setTools, { server: name, tools });
      return serverPath(name);
    }, async (error) => ({
      ...await serverToolsPage(gateway, name, new URLSearchParams()),
      refused: { written, error: formError(error) },
    }));
  },
});

/** Which tools of a server clients get. */
export default define.page<typeof handler>(function ServerToolsRoute({ data }) {
  const { server, tools, isNew, refused } = data;
  return (
    <div class="stack" data-live="servers">
      <BusyForms />
      {tools.some(({ tokens }) => tokens === undefined) && <RefreshSoon madeAt={Date.now()} />}
      <PageHeader
        title={
          <>
            Configure tools: <span class="mono">{server.name}</span>
          </>
        }
        lead="Only selected tools are available to MCP clients. You can change this at any time."
      />
      {isNew && (
        <p class="notice tone-ok" role="status">
          <Icon name="ready" size={14} />
          <span>
            {server.state === "ready"
              ? `${server.name} was added: ${formatCount(server.toolCount, "tool")} discovered.`
              : (
                <>
                  {server.name} was added. <InertText text={server.reason} />
                </>
              )}
          </span>
        </p>
      )}
      {refused === undefined
        ? null
        : <FormFailure error={refused.error} title="The selection was not saved" />}
      <Card isFlush>
        {tools.length === 0
          ? (
            <EmptyState icon="tools" title="No tools yet">
              {server.state === "ready"
                ? "This server is connected and offers no tools."
                : "You can choose its tools here once the server is connected."}
            </EmptyState>
          )
          : (
            <ToolChoice
              server={server.name}
              tools={tools}
              {...(refused === undefined ? {} : { written: refused.written })}
            />
          )}
      </Card>
      {tools.length > 0 && (
        <p class="small muted">
          If all tools are selected, tools the server adds later are exposed too.
        </p>
      )}
    </div>
  );
});
