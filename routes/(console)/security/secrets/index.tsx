import { page } from "fresh";
import { Secrets } from "../../../../components/secrets.tsx";
import { askerOf } from "../../../../lib/console/asker.ts";
import { define } from "../../../../lib/console/define.ts";
import {
  changeSecrets,
  type SecretsPage,
  secretsPage,
} from "../../../../lib/console/security_secrets.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

/** A value may have 32 KiB, each byte of it three when it is sent. */
const MAX_FORM = 131_072;

export const handler = define.handlers<SecretsPage>({
  async GET(ctx) {
    ctx.state.title = "Secrets";
    return page(await secretsPage(ctx.state.gateway, ctx.url.searchParams));
  },

  async POST(ctx) {
    ctx.state.title = "Secrets";
    const { gateway } = ctx.state;
    const form = await readForm(ctx.req, MAX_FORM);
    try {
      const done = await changeSecrets(gateway, form, askerOf(ctx));
      return ctx.redirect(`/security/secrets?done=${done}`, 303);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return page(await secretsPage(gateway, form, error), { status: error.httpStatus });
    }
  },
});

export default define.page<typeof handler>(function SecretsRoute({ data }) {
  return (
    <div class="stack" data-live="servers settings">
      <Secrets page={data} />
    </div>
  );
});
