import { page } from "fresh";
import { Settings } from "../../components/settings.tsx";
import { define } from "../../lib/console/define.ts";
import { changeSettings, readSettingsChange } from "../../lib/console/settings_changes.ts";
import { settingsPage } from "../../lib/console/settings_page.ts";
import { readForm } from "../../lib/http/read_form.ts";

export const handler = define.handlers({
  async GET(ctx) {
    ctx.state.title = "Settings";
    const { os, arch } = Deno.build;
    const runtime = { deno: Deno.version.deno, system: `${os} ${arch}` };
    return page(await settingsPage(ctx.state.gateway, runtime, ctx.url.searchParams));
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const form = await readForm(ctx.req, gateway.options.options.maxBody);
    const done = await changeSettings(gateway, readSettingsChange(form));
    return ctx.redirect(`/settings?done=${done}`, 303);
  },
});

export default define.page<typeof handler>(function SettingsRoute({ data }) {
  return (
    <div class="stack" data-live="settings embeddings">
      <Settings page={data} />
    </div>
  );
});
