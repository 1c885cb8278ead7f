import { page } from "fresh";
import { Missing } from "../../../../components/states.tsx";
import { define } from "../../../../lib/console/define.ts";
import { pathParts, serverPath } from "../../../../lib/console/ui/pages.ts";
import { ServerDetail } from "./(_components)/detail.tsx";
import { serverPage } from "./(_page)/model.ts";

export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    const name = pathParts(ctx.url.pathname)?.[1] ?? "";
    const { gateway, principal } = ctx.state;
    const mayManage = gateway.access.grants(principal).may("manage");
    const found = await serverPage(gateway, name, ctx.url.searchParams, mayManage);
    ctx.state.title = "missing" in found ? "Server not found" : name;
    return page(found, { status: "missing" in found ? 404 : 200 });
  },
});

export default define.page<typeof handler>(function ServerRoute({ data, state, url }) {
  if ("missing" in data) {
    return (
      <Missing
        what="server"
        name={data.missing}
        nearest={data.nearest.map((name) => ({ name, href: serverPath(name) }))}
        code="SERVER_NOT_FOUND"
        id={state.requestId}
        listHref="/servers"
      />
    );
  }
  return (
    <div data-live="servers calls">
      <ServerDetail page={data} url={url} />
    </div>
  );
});
