import { page } from "fresh";
import { Tokens } from "../../../../components/security_tokens.tsx";
import { askerOf } from "../../../../lib/console/asker.ts";
import { define } from "../../../../lib/console/define.ts";
import { makeToken, type TokensPage, tokensPage } from "../../../../lib/console/security_tokens.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

const MAX_FORM = 65_536;
// A page with a token on it is kept by nobody.
const NO_STORE = { "cache-control": "no-store" };

export const handler = define.handlers<TokensPage>({
  async GET(ctx) {
    ctx.state.title = "Tokens";
    const { gateway, principal } = ctx.state;
    return page(await tokensPage(gateway, principal, ctx.url.searchParams), { headers: NO_STORE });
  },

  async POST(ctx) {
    ctx.state.title = "Tokens";
    const { gateway, principal } = ctx.state;
    const form = await readForm(ctx.req, MAX_FORM);
    try {
      if (form.get("change") === "revoke") {
        await gateway.accessAdmin.revokeToken(form.get("id") ?? "", askerOf(ctx));
        return ctx.redirect("/security/tokens", 303);
      }
      const by = { ...askerOf(ctx), principal };
      return page(await makeToken(gateway, by, form), { status: 201, headers: NO_STORE });
    } catch (error) {
      if (!(error instanceof GatewayError) || error.httpStatus >= 500) throw error;
      const shown = await tokensPage(gateway, principal, form, error);
      return page(shown, { status: error.httpStatus, headers: NO_STORE });
    }
  },
});

export default define.page<typeof handler>(function TokensRoute({ data }) {
  // Not live: what is shown once, or half written in the form, must not be replaced.
  return (
    <div class="stack">
      <Tokens page={data} />
    </div>
  );
});
