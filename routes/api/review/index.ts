import { define } from "../../../lib/console/define.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const { review } = ctx.state.gateway;
    const [server, tool] = ["server", "tool"].map((name) => ctx.url.searchParams.get(name));
    if (server && tool) return Response.json({ items: review.show(server, tool), more: 0 });
    return Response.json({
      ...review.list(server ?? undefined),
      decisions: await review.decisions(),
      policies: review.policies(),
    });
  },
});
