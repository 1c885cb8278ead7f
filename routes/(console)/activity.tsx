import { EmptyState } from "../../components/empty_state.tsx";
import { PageHeader } from "../../components/page_header.tsx";
import { define } from "../../lib/console/define.ts";

export const handler = define.handlers({
  GET(ctx) {
    ctx.state.title = "Activity";
    const { dataDir } = ctx.state.gateway.options.options;
    return { data: dataDir === undefined ? {} : { dataDir } };
  },
});

export default define.page<typeof handler>(function ActivityRoute({ data }) {
  return (
    <div class="stack">
      <PageHeader title="Activity" lead="Who called which tool, and what came back" />
      <EmptyState
        icon="activity"
        title="No calls yet"
        actions={<a class="button" href="/servers">Look at the servers</a>}
      >
        Calls to tools will be listed here. This version has no door for clients yet, so there are
        none.
        {data.dataDir === undefined ? null : (
          <>
            {" "}The gateway's own log is in <code class="place">{data.dataDir}</code>.
          </>
        )}
      </EmptyState>
    </div>
  );
});
