import { page } from "fresh";
import { Settings } from "../../components/settings.tsx";
import { define } from "../../lib/console/define.ts";
import { formError } from "../../lib/console/form_error.ts";
import {
  changeSettings,
  donePath,
  readSettingsChange,
} from "../../lib/console/settings_changes.ts";
import { type SettingsPage, settingsPage } from "../../lib/console/settings_page.ts";
import { GatewayError } from "../../lib/core/errors.ts";
import { isFromHere } from "../../lib/http/from_here.ts";
import { readForm } from "../../lib/http/read_form.ts";

const RUNTIME = { deno: Deno.version.deno, system: `${Deno.build.os} ${Deno.build.arch}` };

export const handler = define.handlers({
  async GET(ctx) {
    const { gateway } = ctx.state;
    ctx.state.title = "Settings";
    const isHere = isFromHere(ctx);
    return page<SettingsPage>(await settingsPage(gateway, RUNTIME, ctx.url.searchParams, isHere));
  },

  async POST(ctx) {
    const { gateway, principal } = ctx.state;
    const { maxBody } = gateway.options.options;
    const form = await readForm(ctx.req, maxBody);
    try {
      const { signal } = ctx.req;
      const done = await changeSettings(gateway, readSettingsChange(form), { principal, signal });
      return ctx.redirect(donePath(done), 303);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // Without a model there is much to say about what to do.
      if (error.httpStatus >= 500 && error.code !== "CANNOT_EVALUATE") throw error;
      ctx.state.title = "Settings";
      const shown = await settingsPage(
        gateway,
        RUNTIME,
        new URLSearchParams(),
        isFromHere(ctx),
      );
      const data: SettingsPage = { ...shown, refused: formError(error) };
      return page(data, { status: error.httpStatus });
    }
  },
});

export default define.page<typeof handler>(function SettingsRoute({ data }) {
  return (
    <div class="stack" data-live="settings embeddings">
      <Settings page={data} />
    </div>
  );
});
