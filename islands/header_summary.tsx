import { Icon } from "../components/icon.tsx";
import { formatCount } from "../lib/console/ui/format.ts";
import { liveCounts, type StatusCounts } from "../lib/console/ui/live.ts";

interface HeaderSummaryProps {
  counts: StatusCounts;
  place: string;
  isOptimizing: boolean;
}

/** The gateway in one line: servers, port, optimization. */
export default function HeaderSummary({ counts, place, isOptimizing }: HeaderSummaryProps) {
  const { servers, ready, optimizing = isOptimizing } = liveCounts.value ?? counts;
  const title = `${ready} of ${formatCount(servers, "server")} ready`;
  return (
    <ul class="summary" aria-label="Gateway">
      <li title={title}>
        <Icon name="servers" size={14} />
        {ready === servers ? formatCount(servers, "server") : `${ready}/${servers} ready`}
      </li>
      <li class="mono" title="Where the gateway listens">{place}</li>
      <li title={optimizing ? "Optimization is on" : "Optimization is off"}>
        <Icon name="optimization" size={14} />
        Optimization {optimizing ? "on" : "off"}
      </li>
    </ul>
  );
}
