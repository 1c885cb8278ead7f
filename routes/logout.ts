import { define } from "../lib/console/define.ts";
import { logOut } from "../lib/console/login.ts";
import { readForm } from "../lib/http/request_body.ts";

const MAX_FORM = 4_096;

export const handler = define.handlers("anyone", {
  async POST(ctx) {
    const form = await readForm(ctx.req, MAX_FORM);
    return await logOut(ctx.state.gateway, ctx.req, form.has("everywhere"));
  },
});
