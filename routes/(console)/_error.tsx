import { page } from "fresh";
import { ErrorState } from "../../components/error_state.tsx";
import { define } from "../../lib/console/define.ts";
import { errorPage } from "../../lib/console/error_page.ts";

export const handler = define.handlers((ctx) => {
  const { gateway, requestId } = ctx.state;
  const shown = errorPage(ctx.error);
  if (shown.status >= 500) gateway.requestLog.error({ requestId, err: ctx.error }, "Page failed");
  ctx.state.title = shown.title;
  return page(shown, { status: shown.status });
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
      actions={
        <>
          <a
            class="button button-primary"
            href={url.pathname}
            f-client-nav={false}
            aria-current="false"
          >
            Try again
          </a>
          <a class="button" href="/" aria-current="false">Go to the dashboard</a>
        </>
      }
    />
  );
});
