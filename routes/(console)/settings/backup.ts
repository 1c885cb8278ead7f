import { runFor } from "../../../lib/console/api.ts";
import { define } from "../../../lib/console/define.ts";
import { fileResponse } from "../../../lib/operations/http.ts";
import { SETTINGS_OPERATIONS } from "../../../lib/operations/settings.ts";

/** The whole store as a file. Only a form gets it: a link or a picture on a page must not. */
export const handler = define.handlers({ POST: ["manage"] }, {
  async POST(ctx) {
    return fileResponse(await runFor(ctx, SETTINGS_OPERATIONS.backup, {}));
  },
});
