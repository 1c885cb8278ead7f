import { page } from "fresh";
import { Servers } from "../../../components/servers.tsx";
import { define } from "../../../lib/console/define.ts";
import { serversPage } from "../../../lib/console/servers_page.ts";

export const handler = define.handlers({
  GET(ctx) {
    ctx.state.title = "Servers";
    return page(serversPage(ctx.state.gateway, ctx.url.searchParams));
  },
});

export default define.page<typeof handler>(function ServersRoute({ data, url }) {
  return (
    <div class="stack" data-live="servers">
      <Servers page={data} url={url} />
    </div>
  );
});
