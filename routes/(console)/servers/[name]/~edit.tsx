import { page } from "fresh";
import { callOf } from "../../../../lib/console/api.ts";
import { define, formOf } from "../../../../lib/console/define.ts";
import { serverPath } from "../../../../lib/console/ui/pages.ts";
import { ServerEditor } from "../(_components)/entry_form.tsx";
import { editForm, readServerForm, saveServer } from "../(_page)/entry.ts";

export const handler = define.handlers({ GET: ["read"], POST: ["manage"] }, {
  async GET(ctx) {
    const name = ctx.params.name ?? "";
    const form = await editForm(ctx.state.gateway, name);
    ctx.state.title = `Edit ${name}`;
    return page(form);
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const name = ctx.params.name ?? "";
    const fields = readServerForm(await formOf(ctx));
    const outcome = await saveServer(gateway, name, fields, callOf(ctx, "console"));
    if ("state" in outcome) return ctx.redirect(serverPath(name), 303);
    ctx.state.title = `Edit ${name}`;
    return page(outcome, { status: 400 });
  },
});

export default define.page<typeof handler>(function EditServerRoute({ data }) {
  return <ServerEditor form={data} />;
});
