import { page } from "fresh";
import { LoginForm } from "../../../../components/login_form.tsx";
import { askerOf } from "../../../../lib/console/asker.ts";
import { define } from "../../../../lib/console/define.ts";
import { beginLogin, loginPage } from "../../../../lib/console/server_login.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const name = ctx.params.name ?? "";
    const attempt = ctx.url.searchParams.get("attempt");
    const data = await loginPage(ctx.state.gateway, name, attempt);
    ctx.state.title = `Log in to ${name}`;
    return page(data);
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const name = ctx.params.name ?? "";
    const fields = await readForm(ctx.req, gateway.options.options.maxBody);
    const begun = await beginLogin(gateway, name, fields, askerOf(ctx));
    if (typeof begun === "string") return ctx.redirect(begun, 303);
    ctx.state.title = `Log in to ${name}`;
    return page(begun, { status: 400 });
  },
});

export default define.page<typeof handler>(function LoginRoute({ data }) {
  return <LoginForm page={data} />;
});
