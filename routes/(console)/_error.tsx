import { page } from "fresh";
import { ErrorState } from "../../components/error_state.tsx";
import { define } from "../../lib/console/define.ts";
import { errorPage, wayBack } from "../../lib/console/error_page.ts";

export const handler = define.handlers((ctx) => {
  const { gateway, requestId } = ctx.state;
  const shown = errorPage(ctx.error);
  if (shown.status >= 500) gateway.requestLog.error({ requestId, err: ctx.error }, "Page failed");
  ctx.state.title = shown.title;
  const back = shown.code === "ACCESS_DENIED" ? wayBack(ctx.req) : undefined;
  return page({ ...shown, back }, { status: shown.status });
});

export default define.page<typeof handler>(function ErrorRoute({ data, state, url }) {
  return (
    <ErrorState
      title={data.title}
      message={data.message}
      code={data.code}
      id={state.requestId}
      steps={data.steps}
      {...(data.hint === undefined ? {} : { hint: data.hint })}
      actions={data.back === undefined ? <TryAgain path={url.pathname} /> : (
        <>
          <a class="button button-primary" href={data.back} aria-current="false">
            {data.back === "/" ? "Go to the dashboard" : "Go back"}
          </a>
          <a class="button" href="/login" f-client-nav={false}>Use another token</a>
        </>
      )}
    />
  );
});

function TryAgain({ path }: { path: string }) {
  return (
    <>
      <a class="button button-primary" href={path} f-client-nav={false} aria-current="false">
        Try again
      </a>
      <a class="button" href="/" aria-current="false">Go to the dashboard</a>
    </>
  );
}
