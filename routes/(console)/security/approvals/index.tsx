import { page } from "fresh";
import { ApprovalsView } from "../../../../components/approvals.tsx";
import { askerOf } from "../../../../lib/console/asker.ts";
import { define } from "../../../../lib/console/define.ts";
import { formError } from "../../../../lib/console/form_error.ts";
import {
  type ApprovalsPage,
  approvalsPage,
  decideApproval,
  readApprovalAction,
} from "../../../../lib/console/security_approvals.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

const MAX_FORM = 65_536;

export const handler = define.handlers({
  async GET(ctx) {
    ctx.state.title = "Approvals";
    return page<ApprovalsPage>(await approvalsPage(ctx.state.gateway));
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const form = await readForm(ctx.req, MAX_FORM);
    try {
      const action = readApprovalAction(Object.fromEntries(form));
      await decideApproval(gateway, action, askerOf(ctx));
      return ctx.redirect("/security/approvals", 303);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      ctx.state.title = "Approvals";
      const data: ApprovalsPage = { ...await approvalsPage(gateway), refused: formError(error) };
      return page(data, { status: error.httpStatus });
    }
  },
});

export default define.page<typeof handler>(function ApprovalsRoute({ data }) {
  return (
    <div class="stack" data-live="sessions toolsets">
      <ApprovalsView page={data} />
    </div>
  );
});
