import { define } from "../../lib/console/define.ts";
import { OPERATIONS } from "../../lib/operations/all.ts";
import { openApi } from "../../lib/operations/http.ts";

export const handler = define.handlers("anyone", {
  GET: (ctx) => Response.json(openApi(OPERATIONS.values(), ctx.state.gateway.version)),
});
