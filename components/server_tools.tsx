import BusyForms from "../islands/busy_forms.tsx";
import RefreshSoon from "../islands/refresh_soon.tsx";
import ToolChoice from "../islands/tool_choice.tsx";
import type { ServerToolsPage } from "../lib/console/server_tools_page.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { Card } from "./card.tsx";
import { EmptyState } from "./empty_state.tsx";
import { FormFailure } from "./form_failure.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { PageHeader } from "./page_header.tsx";

/** Which tools of a server clients get. */
export function ServerTools(
  { page: { server, tools, isNew, refused } }: { page: ServerToolsPage },
) {
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
        : <FormFailure error={refused.error} title="The selection is not saved" />}
      <Card isFlush>
        {tools.length === 0
          ? (
            <EmptyState icon="tools" title="No tools yet">
              {server.state === "ready"
                ? "This server is connected and offers no tools."
                : "Its tools can be chosen here once the server is connected."}
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
          With all selected, tools that the server adds later are exposed too.
        </p>
      )}
    </div>
  );
}
