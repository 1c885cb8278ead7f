import { define } from "../../../lib/console/define.ts";
import { ConsentDecision, decideConsent } from "../../../lib/console/security_consents.ts";
import { serverAsker } from "../../../lib/http/from_here.ts";
import { readJson } from "../(_parts)/read_json.ts";

const MAX_BODY = 4_096;

export const handler = define.handlers({
  async POST(ctx) {
    const { decision } = await readJson(ctx.req, ConsentDecision, MAX_BODY);
    const id = ctx.params.id ?? "";
    const by = serverAsker(ctx, "api");
    return Response.json(await decideConsent(ctx.state.gateway, id, decision, by));
  },
});
