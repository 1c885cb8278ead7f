import { page } from "fresh";
import { Missing } from "../../../../components/missing.tsx";
import { ToolsetDetail } from "../../../../components/toolset_detail.tsx";
import { define } from "../../../../lib/console/define.ts";
import { toolsetPage } from "../../../../lib/console/toolset_page.ts";
import { pathParts, toolsetPath } from "../../../../lib/console/ui/paths.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const name = pathParts(ctx.url.pathname)?.[1] ?? "";
    const found = await toolsetPage(
      ctx.state.gateway,
      name,
      ctx.url.searchParams,
      ctx.state.principal,
    );
    ctx.state.title = "missing" in found ? "Toolset not found" : name;
    return page(found, { status: "missing" in found ? 404 : 200 });
  },
});

export default define.page<typeof handler>(function ToolsetRoute({ data, state, url }) {
  if ("missing" in data) {
    return (
      <Missing
        what="toolset"
        name={data.missing}
        nearest={data.nearest.map((name) => ({ name, href: toolsetPath(name) }))}
        code="NOT_FOUND"
        id={state.requestId}
        listHref="/toolsets"
      />
    );
  }
  return (
    <div data-live="servers toolsets sessions">
      <ToolsetDetail page={data} url={url} />
    </div>
  );
});
