import { page } from "fresh";
import { ServerForm } from "../../../components/server_form.tsx";
import { define } from "../../../lib/console/define.ts";
import {
  addServer,
  EMPTY_WORDS,
  readServerForm,
  type ServerForm as Form,
} from "../../../lib/console/server_form.ts";
import { serverStep } from "../../../lib/console/ui/paths.ts";
import { serverAsker } from "../../../lib/http/from_here.ts";
import { readForm } from "../../../lib/http/read_form.ts";

export const handler = define.handlers({
  GET(ctx) {
    ctx.state.title = "Add server";
    return page<Form>(EMPTY_WORDS);
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const { maxBody } = gateway.options.options;
    const words = readServerForm(await readForm(ctx.req, maxBody));
    const outcome = await addServer(gateway, words, serverAsker(ctx, "console"));
    if ("added" in outcome) {
      return ctx.redirect(`${serverStep(outcome.added, "tools")}?added`, 303);
    }
    ctx.state.title = "Add server";
    return page<Form>(outcome, { status: outcome.error === undefined ? 200 : 400 });
  },
});

export default define.page<typeof handler>(function NewServerRoute({ data }) {
  return <ServerForm form={data} />;
});
