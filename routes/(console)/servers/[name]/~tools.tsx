import { page } from "fresh";
import { ServerTools } from "../../../../components/server_tools.tsx";
import { define } from "../../../../lib/console/define.ts";
import { saveServerTools, serverToolsPage } from "../../../../lib/console/server_tools_page.ts";
import { serverPath } from "../../../../lib/console/ui/paths.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const name = ctx.params.name ?? "";
    const found = await serverToolsPage(ctx.state.gateway, name, ctx.url.searchParams);
    ctx.state.title = `Configure tools: ${name}`;
    return page(found);
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const name = ctx.params.name ?? "";
    const form = await readForm(ctx.req, gateway.options.options.maxBody);
    await saveServerTools(gateway, name, form);
    return ctx.redirect(serverPath(name), 303);
  },
});

export default define.page<typeof handler>(function ServerToolsRoute({ data }) {
  return <ServerTools page={data} />;
});
