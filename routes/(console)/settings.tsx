import { page } from "fresh";
import { Settings } from "../../components/settings.tsx";
import { define } from "../../lib/console/define.ts";
import { settingsPage } from "../../lib/console/settings_page.ts";

export const handler = define.handlers({
  GET(ctx) {
    ctx.state.title = "Settings";
    const { os, arch } = Deno.build;
    const runtime = { deno: Deno.version.deno, system: `${os} ${arch}` };
    return page(settingsPage(ctx.state.gateway, runtime));
  },
});

export default define.page<typeof handler>(function SettingsRoute({ data }) {
  return (
    <div class="stack">
      <Settings page={data} />
    </div>
  );
});
