import { Card } from "../../../../components/layout.tsx";
import { Table } from "../../../../components/tables.tsx";
import { formatNumber } from "../../../../lib/console/ui/format.ts";
import type { ToolFailures } from "../(_page)/proposals.ts";

const MOST_DAYS = 14;

/** What happens to real calls, before and after a promotion. */
export function FailedCalls({ failures }: { failures: ToolFailures }) {
  const { days, before, after } = failures;
  return (
    <Card title="Failed calls" isFlush>
      {before && after && (
        <p class="card-lead">
          Before the promotion: {before}. Since then: {after}.
        </p>
      )}
      <Table
        caption="Calls and failed calls by day, newest first"
        columns={["Day", ["Calls", "number"], ["Failed", "number"]]}
      >
        {days.slice(0, MOST_DAYS).map(({ day, calls, errors }) => (
          <tr key={day}>
            <td>{day}</td>
            <td class="number">{formatNumber(calls)}</td>
            <td class="number">{formatNumber(errors)}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
