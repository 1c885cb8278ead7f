import { page } from "fresh";
import { ErrorState } from "../../components/states.tsx";
import { InertText } from "../../components/text.tsx";
import { define } from "../../lib/console/define.ts";
import { GatewayError } from "../../lib/core/errors.ts";
import { errorResponse } from "../../lib/http/handle_request.ts";

// A route rather than _404.tsx: that is rendered outside the app's middlewares, so that the page
// would have neither its headers nor its content security policy.
export const handler = define.handlers("anyone", (ctx) => {
  const { req, state, url } = ctx;
  const wantsPage = (req.method === "GET" || req.method === "HEAD") &&
    (req.headers.get("accept")?.includes("text/html") || ctx.isPartial);
  if (!wantsPage) {
    const message = `There is nothing at ${req.method} ${url.pathname.slice(0, 200)}`;
    return errorResponse(new GatewayError("NOT_FOUND", { message }), state.requestId);
  }
  state.title = "Not found";
  return page(undefined, { status: 404 });
});

export default define.page(function NotFoundRoute({ state, url }) {
  return (
    <ErrorState
      icon="compass"
      title="Page not found"
      message={
        <>
          There is no page at <InertText as="code" text={url.pathname.slice(0, 200)} />.
        </>
      }
      code="NOT_FOUND"
      id={state.requestId}
      steps={[]}
      actions={
        <a class="button button-primary" href="/" aria-current="false">Go to the dashboard</a>
      }
    />
  );
});
