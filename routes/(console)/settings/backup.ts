import { define } from "../../../lib/console/define.ts";
import { backupResponse } from "./(_page)/data.ts";
import { isFromThisMachine } from "../../../lib/http/request_origin.ts";

/** The whole store as a file. Only a form gets it: a link or a picture on a page must not. */
export const handler = define.handlers({ POST: ["manage"] }, {
  POST(ctx) {
    const { gateway } = ctx.state;
    return backupResponse(gateway, isFromThisMachine(ctx));
  },
});
