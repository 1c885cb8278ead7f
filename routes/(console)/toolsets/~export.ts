import { runFor } from "../../../lib/console/api.ts";
import { define } from "../../../lib/console/define.ts";
import { fileResponse } from "../../../lib/operations/http.ts";
import { TOOLSET_OPERATIONS } from "../../../lib/operations/toolsets.ts";

export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    return fileResponse(await runFor(ctx, TOOLSET_OPERATIONS.exportFile, { names: [] }));
  },
});
