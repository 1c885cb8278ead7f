import { join } from "@std/path";
import { EmptyState } from "../../components/empty_state.tsx";
import { PageHeader } from "../../components/page_header.tsx";
import { define } from "../../lib/console/define.ts";

export const handler = define.handlers({
  GET(ctx) {
    ctx.state.title = "Activity";
    const { dataDir } = ctx.state.gateway.options.options;
    return { data: dataDir === undefined ? {} : { logs: join(dataDir, "logs") } };
  },
});

export default define.page<typeof handler>(function ActivityRoute({ data }) {
  return (
    <div class="stack">
      <PageHeader title="Activity" lead="Who called which tool, and what came back" />
      <EmptyState
        icon="activity"
        title="Nothing recorded yet"
        actions={<a class="button" href="/servers">Look at the servers</a>}
      >
        Every call of a tool will be listed here, with its client, its time and its outcome. This
        version does not record them yet.
        {data.logs === undefined ? null : (
          <>
            {" "}The gateway's own log is in <code class="place">{data.logs}</code>.
          </>
        )}
      </EmptyState>
    </div>
  );
});
