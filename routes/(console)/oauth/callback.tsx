import { page, type RouteConfig } from "fresh";
import { LoginResult } from "../../../components/login_result.tsx";
import { askerOf } from "../../../lib/console/asker.ts";
import { define } from "../../../lib/console/define.ts";
import { finishLogin } from "../../../lib/console/server_login.ts";

/** Anybody can come here: nothing of the console is shown around it. */
export const config: RouteConfig = { skipInheritedLayouts: true };

export const handler = define.handlers({
  async GET(ctx) {
    const data = await finishLogin(ctx.state.gateway, ctx.url.searchParams, askerOf(ctx));
    ctx.state.title = data.kind === "done" ? "Logged in" : "Not logged in";
    // The address holds a code: it must not be kept, nor sent on.
    const headers = { "cache-control": "no-store" };
    return page(data, { status: data.kind === "done" ? 200 : 400, headers });
  },
});

export default define.page<typeof handler>(function CallbackRoute({ data }) {
  return <LoginResult page={data} />;
});
