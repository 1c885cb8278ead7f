import { page } from "fresh";
import { ServerForm } from "../../../../components/server_form.tsx";
import { define } from "../../../../lib/console/define.ts";
import { editForm, readServerForm, saveServer } from "../../../../lib/console/server_form.ts";
import { serverPath } from "../../../../lib/console/ui/paths.ts";
import { serverAsker } from "../../../../lib/http/from_here.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const name = ctx.params.name ?? "";
    const form = await editForm(ctx.state.gateway, name);
    ctx.state.title = `Edit ${name}`;
    return page(form);
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const name = ctx.params.name ?? "";
    const { maxBody } = gateway.options.options;
    const words = readServerForm(await readForm(ctx.req, maxBody));
    const outcome = await saveServer(gateway, name, words, serverAsker(ctx, "console"));
    if ("state" in outcome) return ctx.redirect(serverPath(name), 303);
    ctx.state.title = `Edit ${name}`;
    return page(outcome, { status: 400 });
  },
});

export default define.page<typeof handler>(function EditServerRoute({ data }) {
  return <ServerForm form={data} />;
});
