import { EmptyState } from "../../components/empty_state.tsx";
import { PageHeader } from "../../components/page_header.tsx";
import { define } from "../../lib/console/define.ts";

export const handler = define.handlers({
  GET(ctx) {
    ctx.state.title = "Toolsets";
    return { data: undefined };
  },
});

export default define.page(function ToolsetsRoute() {
  return (
    <div class="stack">
      <PageHeader title="Toolsets" lead="The few tools a task needs, under one name" />
      <EmptyState
        icon="toolsets"
        title="No toolsets yet"
        actions={<a class="button" href="/tools">Browse the tools</a>}
      >
        A toolset picks tools from any of your servers, so that a client sees those and nothing
        else. This version cannot save toolsets yet; meanwhile, see which tools your servers offer.
      </EmptyState>
    </div>
  );
});
