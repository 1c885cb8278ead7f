import { page } from "fresh";
import { ErrorState } from "../../../components/states.tsx";
import { define } from "../../../lib/console/define.ts";
import { Activity } from "./(_components)/activity.tsx";
import { activityPage, callPage } from "./(_page)/model.ts";

export const handler = define.handlers({ GET: ["read", "manage"] }, {
  async GET(ctx) {
    const { gateway } = ctx.state;
    const [list, detail] = await Promise.all([
      activityPage(gateway, ctx.url.searchParams),
      callPage(gateway, ctx.params.id ?? ""),
    ]);
    ctx.state.title = detail === undefined
      ? "Call not found"
      : detail.call.search?.query ?? `${detail.call.server}.${detail.call.tool}`;
    return page({ list, detail }, { status: detail === undefined ? 404 : 200 });
  },
});

export default define.page<typeof handler>(function CallRoute({ data, url, state }) {
  const { list, detail } = data;
  if (detail !== undefined) return <Activity page={list} detail={detail} url={url} />;
  return (
    <ErrorState
      icon="compass"
      title="Call not found"
      message={`Calls are kept for ${list.keptDays} days, up to ${
        list.keptCalls.toLocaleString("en-US")
      } calls. This one may have expired or been cleared.`}
      code="NOT_FOUND"
      id={state.requestId}
      steps={[]}
      actions={
        <a class="button button-primary" href="/activity" aria-current="false">Show all calls</a>
      }
    />
  );
});
