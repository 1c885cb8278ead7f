import { define } from "../../../lib/console/define.ts";
import { backupResponse } from "../../../lib/console/settings_data.ts";
import { isFromHere } from "../../../lib/http/from_here.ts";

/** The whole store as a file. Only a form gets it: a link or a picture on a page must not. */
export const handler = define.handlers({
  POST(ctx) {
    const { gateway } = ctx.state;
    return backupResponse(gateway, isFromHere(ctx));
  },
});
