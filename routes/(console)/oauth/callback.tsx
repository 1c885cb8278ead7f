import { page, type RouteConfig } from "fresh";
import { Head } from "fresh/runtime";
import { InertText } from "../../../components/text.tsx";
import { define } from "../../../lib/console/define.ts";
import { type CallbackPage, finishLogin } from "../servers/[name]/(_page)/login.ts";

/** Anybody can come here: nothing of the console is shown around it. */
export const config: RouteConfig = { skipInheritedLayouts: true };

export const handler = define.handlers("anyone", {
  async GET(ctx) {
    const data = await finishLogin(ctx.state.gateway, ctx.url.searchParams);
    ctx.state.title = data.kind === "done" ? "Logged in" : "Login failed";
    // The address holds a code: it must not be kept, nor sent on.
    const headers = { "cache-control": "no-store" };
    return page(data, { status: data.kind === "done" ? 200 : 400, headers });
  },
});

/** * The page an authorization server sends the user back to. It continues by itself, as a page: * a redirect would count as the other site's, and arrive without the console's cookie.
 */
export default define.page<typeof handler>(function CallbackRoute({ data: page }) {
  return (
    <main class="login" id="main">
      <div class="login-card">
        {page.kind === "done" ? <Done page={page} /> : <Failed page={page} />}
      </div>
    </main>
  );
});

function Done({ page }: { page: Extract<CallbackPage, { kind: "done" }> }) {
  return (
    <>
      <Head>
        <meta http-equiv="refresh" content={`2;url=${page.href}`} />
      </Head>
      <h1>Logged in</h1>
      <p>
        You are logged in to <span class="mono">{page.server}</span>.{" "}
        {page.isReady ? "Its tools are ready to use." : <InertText text={page.reason} />}
      </p>
      <a class="button button-primary" href={page.href}>Go to the server</a>
    </>
  );
}

function Failed({ page }: { page: Extract<CallbackPage, { kind: "failed" }> }) {
  const { error, href } = page;
  return (
    <>
      <h1>Login failed</h1>
      <p role="alert">
        <InertText text={error.message} />
      </p>
      {error.steps.map((step) => (
        <p key={step} class="muted">
          <InertText text={step} />
        </p>
      ))}
      <p class="small muted">
        <code>{error.code}</code>
      </p>
      <a class="button button-primary" href={href}>Log in again</a>
    </>
  );
}
