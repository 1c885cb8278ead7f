import { page } from "fresh";
import { Consents } from "../../../../components/consents.tsx";
import { define } from "../../../../lib/console/define.ts";
import {
  type ConsentsPage,
  consentsPage,
  decideByForm,
} from "../../../../lib/console/security_consents.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { serverAsker } from "../../../../lib/http/from_here.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

const MAX_FORM = 4_096;

export const handler = define.handlers<ConsentsPage>({
  async GET(ctx) {
    ctx.state.title = "Consents";
    const { gateway } = ctx.state;
    return page(await consentsPage(gateway, serverAsker(ctx, "console"), ctx.url.searchParams));
  },

  async POST(ctx) {
    ctx.state.title = "Consents";
    const { gateway } = ctx.state;
    const by = serverAsker(ctx, "console");
    const form = await readForm(ctx.req, MAX_FORM);
    try {
      const done = await decideByForm(gateway, form, by);
      return ctx.redirect(`/security/consents?${done}`, 303);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const shown = await consentsPage(gateway, by, undefined, error);
      return page(shown, { status: error.httpStatus });
    }
  },
});

export default define.page<typeof handler>(function ConsentsRoute({ data }) {
  return (
    <div class="stack" data-live="settings">
      <Consents page={data} />
    </div>
  );
});
