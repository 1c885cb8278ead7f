import { Card } from "../../../components/layout.tsx";
import { HiddenHeading, Table } from "../../../components/tables.tsx";
import { InertText } from "../../../components/text.tsx";
import { RefreshSoon } from "../../../islands/frame.tsx";
import { formatCount, formatNumber, formatShare } from "../../../lib/console/ui/format.ts";
import { clientPath } from "../../../lib/console/ui/pages.ts";
import type { DashboardPage } from "../(_page)/dashboard.ts";

const WIDTH = 200;

/** An amount, drawn to the scale of its table. */
function TokenBar({ tokens, whole }: { tokens: number; whole: number }) {
  const width = tokens === 0 ? 0 : Math.max(2, tokens / whole * WIDTH);
  return (
    <svg class="bar token-bar" viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" aria-hidden>
      <rect class="bar-fill" width={width} height="8" />
    </svg>
  );
}

/** What models are given, against listing every tool to each of them. */
export function TokensCard({ tokens }: Pick<DashboardPage, "tokens">) {
  const { all, toolCount, clients, more, days, isCounting } = tokens;
  if (toolCount === 0) return null;
  const whole = Math.max(1, all.counted, ...clients.map(({ listing }) => listing.tokens));
  return (
    <Card title="Tokens used by tool lists" aside="tokens" isFlush>
      <Table
        caption="Tokens used by each client's tool list and searches, compared with listing every tool"
        class="given-table"
        columns={[
          "To",
          ["Tools", "number hide-small"],
          ["Listed", "number"],
          ["Answers", "number", "Tokens of the gateway's answers to this client"],
          ["Share of all tools", "col-share", "Tokens listed, compared with listing every tool"],
        ]}
      >
        <tr>
          <td>All tools listed (no gateway)</td>
          <td class="number hide-small">{formatNumber(toolCount)}</td>
          <td class="number">{all.isCounting ? "counting…" : formatNumber(all.counted)}</td>
          <td class="number">–</td>
          <td>{!all.isCounting && <TokenBar tokens={all.counted} whole={whole} />}</td>
        </tr>
        {clients.map(({ id, name, sessions, listing, answered }) => (
          <tr key={id} data-row>
            <td class="cut">
              <a
                class="cover strong"
                href={sessions === 1 ? clientPath(id) : "/clients"}
                data-row-link
              >
                <InertText text={name} />
              </a>
              {sessions > 1 && <span class="muted">, {sessions} sessions</span>}
            </td>
            <td class="number hide-small">{formatNumber(listing.tools)}</td>
            <td class="number">{formatNumber(listing.tokens)}</td>
            <td class="number">{answered === 0 ? "–" : formatNumber(answered)}</td>
            <td>{!all.isCounting && <TokenBar tokens={listing.tokens} whole={whole} />}</td>
          </tr>
        ))}
      </Table>
      {(all.isCounting || isCounting) && <RefreshSoon madeAt={Date.now()} />}
      {clients.length === 0 && (
        <p class="card-lead muted">
          {isCounting
            ? "Counting tokens for each client."
            : "Connected clients appear here, with the tokens their tool lists use."}
        </p>
      )}
      {tokens.saved?.tokens === 0 && clients.some(({ listing }) => listing.tokens > all.counted) &&
        (
          <p class="card-lead muted">
            With few tools, listing them all costs less than the gateway’s own tools for search and
            toolsets. The gateway saves tokens once your servers’ tools use more than those.
          </p>
        )}
      {more > 0 && (
        <p class="card-lead">
          <a href="/clients">{formatCount(more, "more client")}</a>
        </p>
      )}
      {days.length > 0 && <SearchDays days={days} />}
    </Card>
  );
}

function SearchDays({ days }: { days: DashboardPage["tokens"]["days"] }) {
  const whole = Math.max(
    1,
    ...days.map(({ baseline, listed, answered }) => Math.max(baseline, listed + answered)),
  );
  return (
    <details class="chart-table card-lead">
      <summary>Tokens by day</summary>
      <Table
        caption="Tokens of lists and answers by day, compared with listing every tool"
        class="saved-table"
        columns={[
          "Day",
          ["Searches", "number"],
          ["Sent", "number", "Tokens of tool lists and of the gateway's answers"],
          ["Saved", "number", "Compared with listing every tool once to each session"],
          <HiddenHeading key="bar" label="Chart, one scale" class="hide-small" />,
        ]}
      >
        {days.map(({ day, searches, listed, answered, baseline }) => (
          <tr key={day}>
            <td>
              <time dateTime={day}>{day}</time>
            </td>
            <td class="number">{formatNumber(searches)}</td>
            <td class="number">{formatNumber(listed + answered)}</td>
            <td class="number">
              {formatShare(Math.max(0, 1 - (listed + answered) / Math.max(1, baseline)))}
            </td>
            <td class="hide-small">
              <TokenBar tokens={listed + answered} whole={whole} />
            </td>
          </tr>
        ))}
      </Table>
    </details>
  );
}
