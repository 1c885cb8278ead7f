import { formatCount, inertString } from "../../../../lib/console/ui/format.ts";
import { jobPath, type ShownJob } from "../../../../lib/console/ui/jobs.ts";
import { optimizationPath } from "../../../../lib/console/ui/pages.ts";
import type { JointView } from "../(_page)/joint.ts";
import { Confirm } from "../../../../components/forms.tsx";
import { Card } from "../../../../components/layout.tsx";
import { InertText } from "../../../../components/text.tsx";
import { Notice } from "../../../../components/states.tsx";

/** What a job's promotions came to together; those that do harm can be reverted here. */
export function TestedTogether({ job, joint }: { job: ShownJob; joint: readonly JointView[] }) {
  const harmful = joint.filter(({ isHarmful, inForce }) => isHarmful && inForce.length > 0);
  const count = harmful.reduce((sum, { inForce }) => sum + inForce.length, 0);
  if (joint.length === 0) return null;
  return (
    <Card title="Tested together">
      {joint.map(({ server, isHarmful, text }) => (
        <Notice key={server} tone={isHarmful ? "warn" : "info"} role={null}>
          <InertText text={text} />
        </Notice>
      ))}
      {harmful.map(({ server, inForce }) => (
        <p key={server}>
          Still active: {inForce.map(({ tool, family }, nth) => (
            <span key={`${tool} ${family}`}>
              {nth > 0 && ", "}
              <a class="mono" href={optimizationPath(server, tool)}>
                <InertText text={tool} />
              </a>
              {family && ` (${family})`}
            </span>
          ))}
        </p>
      ))}
      {count > 0 && (
        <div class="form-actions served-actions">
          <Confirm
            id="revert-together"
            label={`Revert ${formatCount(count, "promotion")}`}
            subject={`of ${inertString(job.title)}`}
            title={`Revert ${formatCount(count, "promotion")}?`}
            action={`${jobPath(job.id)}/revert`}
            verb={`Revert ${formatCount(count, "promotion")}`}
          >
            Clients see the servers' own descriptions again. Each promotion stays in its tool's
            history; you can restore it from there.
          </Confirm>
        </div>
      )}
    </Card>
  );
}
