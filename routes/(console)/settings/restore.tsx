import { page } from "fresh";
import { RestoreBackup } from "../../../components/settings_restore.tsx";
import { define } from "../../../lib/console/define.ts";
import { formError } from "../../../lib/console/form_error.ts";
import {
  changeRestore,
  type RestorePage,
  restorePage,
  takeBackup,
} from "../../../lib/console/settings_restore.ts";
import { RESTORE_BACKUP } from "../../../lib/console/ui/paths.ts";
import { GatewayError } from "../../../lib/core/errors.ts";
import { isFromHere } from "../../../lib/http/from_here.ts";
import { readForm } from "../../../lib/http/read_form.ts";
import { isUpload, MAX_BACKUP_BYTES, readUpload } from "../../../lib/http/read_upload.ts";

export const handler = define.handlers({
  async GET(ctx) {
    const { gateway } = ctx.state;
    ctx.state.title = "Restore a backup";
    const isHere = isFromHere(ctx);
    return page<RestorePage>(await restorePage(gateway, isHere));
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const { maxBody } = gateway.options.options;
    const isHere = isFromHere(ctx);
    try {
      if (isUpload(ctx.req)) {
        await takeBackup(gateway, await readUpload(ctx.req, "backup", MAX_BACKUP_BYTES), isHere);
      } else {
        await changeRestore(gateway, await readForm(ctx.req, maxBody), isHere);
      }
      return ctx.redirect(RESTORE_BACKUP, 303);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      ctx.state.title = "Restore a backup";
      const data: RestorePage = {
        ...await restorePage(gateway, isHere),
        refused: formError(error),
      };
      return page(data, { status: error.httpStatus });
    }
  },
});

export default define.page<typeof handler>(function RestoreRoute({ data }) {
  return <RestoreBackup page={data} />;
});
