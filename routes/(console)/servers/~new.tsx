import { page } from "fresh";
import { callOf } from "../../../lib/console/api.ts";
import { define, formOf } from "../../../lib/console/define.ts";
import { serverStep } from "../../../lib/console/ui/pages.ts";
import { ServerEditor } from "./(_components)/entry_form.tsx";
import {
  addServer,
  EMPTY_ENTRY,
  readServerForm,
  type ServerForm as Form,
} from "./(_page)/entry.ts";

export const handler = define.handlers({ GET: ["read"], POST: ["manage"] }, {
  GET(ctx) {
    ctx.state.title = "Add server";
    return page<Form>(EMPTY_ENTRY);
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const fields = readServerForm(await formOf(ctx));
    const outcome = await addServer(gateway, fields, callOf(ctx, "console"));
    if ("added" in outcome) {
      return ctx.redirect(`${serverStep(outcome.added, "tools")}?added`, 303);
    }
    ctx.state.title = "Add server";
    return page<Form>(outcome, { status: outcome.error === undefined ? 200 : 400 });
  },
});

export default define.page<typeof handler>(function NewServerRoute({ data }) {
  return <ServerEditor form={data} />;
});
