import { page } from "fresh";
import { AuditTrail } from "../../../../components/audit.tsx";
import { define } from "../../../../lib/console/define.ts";
import { type AuditPage, auditPage } from "../../../../lib/console/security_audit.ts";

export const handler = define.handlers<AuditPage>({
  async GET(ctx) {
    ctx.state.title = "Audit log";
    return page(await auditPage(ctx.state.gateway, ctx.url.searchParams));
  },
});

export default define.page<typeof handler>(function AuditRoute({ data }) {
  return (
    <div class="stack" data-live="audit">
      <AuditTrail page={data} />
    </div>
  );
});
