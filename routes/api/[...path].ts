import { answerApi } from "../../lib/console/api.ts";
import { define } from "../../lib/console/define.ts";

/** Every operation as JSON: `POST /api/toolset.equip`, and GET for those that only read. */
export const handler = define.handlers("anyone", (ctx) => answerApi(ctx, ctx.params.path ?? ""));
