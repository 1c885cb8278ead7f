import { EmptyState } from "../../components/empty_state.tsx";
import { PageHeader } from "../../components/page_header.tsx";
import { define } from "../../lib/console/define.ts";

export const handler = define.handlers({
  GET(ctx) {
    ctx.state.title = "Optimization";
    return { data: { isOn: ctx.state.gateway.options.options.enableOptimization } };
  },
});

export default define.page<typeof handler>(function OptimizationRoute({ data }) {
  return (
    <div class="stack">
      <PageHeader title="Optimization" lead="Descriptions that lead a model to the right tool" />
      <EmptyState
        icon="optimization"
        title="Nothing measured yet"
        actions={<a class="button" href="/tools">Read the descriptions</a>}
      >
        Here you will see how often a model picks the right tool by its description, before and
        after a rewrite. This version does not measure yet.{" "}
        {data.isOn ? "Optimization is switched on and waits for it." : (
          <>
            Optimization is off; <code>--enable-optimization</code> switches it on.
          </>
        )}
      </EmptyState>
    </div>
  );
});
