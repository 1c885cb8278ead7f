import { page } from "fresh";
import { ErrorState } from "../../components/states.tsx";
import { define } from "../../lib/console/define.ts";
import { errorPage, wayBack } from "../../lib/console/errors.ts";
import { EVERYONE } from "../../lib/core/access.ts";

export const handler = define.handlers("anyone", (ctx) => {
  const { host, requestId, principal } = ctx.state;
  const shown = errorPage(ctx.error);
  if (shown.status >= 500) host.requestLog.error({ requestId, err: ctx.error }, "Page failed");
  ctx.state.title = shown.title;
  // Retrying does not help if access is denied or the page does not exist.
  const isFinal = shown.code === "ACCESS_DENIED" || shown.status === 404;
  const back = isFinal ? wayBack(ctx.req) : undefined;
  // Without a token a caller has every right, so another token would not help.
  const hasLogin = shown.code === "ACCESS_DENIED" && principal !== EVERYONE;
  return page({ ...shown, back, hasLogin }, { status: shown.status });
});

export default define.page<typeof handler>(function ErrorRoute({ data, state, url }) {
  return (
    <ErrorState
      icon={data.status === 404 ? "compass" : "error"}
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
          {data.hasLogin && (
            <a class="button" href="/login" f-client-nav={false}>Use another token</a>
          )}
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
