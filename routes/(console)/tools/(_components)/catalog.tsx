import { Bar, WaitBadge } from "../../../../components/badges.tsx";
import { Ago, InertText } from "../../../../components/text.tsx";
import { SortHeading, Table } from "../../../../components/tables.tsx";
import type { Sorting } from "../../../../lib/console/lists.ts";
import { formatCount, formatNumber, inertString } from "../../../../lib/console/ui/format.ts";
import { serverPath, toolPath } from "../../../../lib/console/ui/pages.ts";
import type { ListedTool, ToolColumn } from "../(_page)/model.ts";

interface ToolsCatalogProps {
  rows: ListedTool[];
  /** Missing if a search has ordered them. */
  order?: { sorting: Sorting<ToolColumn>; url: URL };
  /** Tells how the rank of each came about. */
  showsScores?: boolean;
}

export function ToolsCatalog({ rows, order, showsScores = false }: ToolsCatalogProps) {
  const sortable = (column: ToolColumn, label: string, name: string) =>
    order === undefined ? [label, name] as const : (
      <SortHeading
        key={column}
        {...order}
        column={column}
        label={label}
        class={name}
        isLargestFirst={name.includes("number")}
      />
    );
  return (
    <Table
      caption={order === undefined ? "Tools, best match first" : "Tools"}
      class={order === undefined ? "tools-table is-ranked" : "tools-table"}
      columns={[
        sortable("server", "Server", "col-server hide-small"),
        sortable("name", "Name", "col-tool"),
        ["Description", "col-description hide-medium"],
        sortable("calls", "Calls, 24 h", "col-calls number hide-small"),
        sortable("errors", "Errors", "col-errors number hide-small"),
        sortable("tokens", "Tokens", "col-tokens number"),
        sortable("used", "Last used", "col-used number hide-small"),
        ...order === undefined ? [["Relevance", "col-relevance number"] as const] : [],
      ]}
    >
      {rows.map((tool) => (
        <ToolRow key={`${tool.server}.${tool.name}`} tool={tool} showsScores={showsScores} />
      ))}
    </Table>
  );
}

function ToolRow({ tool, showsScores }: { tool: ListedTool; showsScores: boolean }) {
  const { match, use } = tool;
  return (
    <tr data-row>
      <td class="cut hide-small" title={inertString(tool.server)}>
        <a class="mono above quiet-link" href={serverPath(tool.server)}>
          <InertText text={tool.server} />
        </a>
      </td>
      <td class="col-tool" title={inertString(tool.name)}>
        <p class="cut">
          <a
            class="mono cover strong"
            href={
              // An invalid tool has no page of its own.
              tool.problem === undefined
                ? toolPath(tool.server, tool.name)
                : serverPath(tool.server)
            }
            data-row-link
          >
            <InertText text={tool.name} />
          </a>
        </p>
        <div class="only-medium muted">
          <p class="cut small only-small">
            <InertText as="span" class="mono" text={tool.server} />
            {use && use.calls > 0 && `, ${formatCount(use.calls, "call")} in 24 h`}
          </p>
          <Summary tool={tool} />
        </div>
      </td>
      <td class="muted hide-medium">
        <Summary tool={tool} />
        {showsScores && <Scores match={match} />}
      </td>
      <td class="number hide-small">{countText(use?.calls)}</td>
      <td class={use && use.errors > 0 ? "number tone-bad hide-small" : "number hide-small"}>
        {countText(use?.errors)}
      </td>
      <td class="number">
        {!tool.isServed ? "–" : tool.tokens === undefined ? "counting" : formatNumber(tool.tokens)}
      </td>
      <td class="number muted hide-small">
        {use?.lastAt === undefined ? "–" : <Ago at={use.lastAt} />}
      </td>
      {match && (
        <td class="number">
          {match.relevance === undefined
            ? <span class="muted" title="Matches the letters of its name only">–</span>
            : (
              <span class="relevance">
                <Bar share={match.relevance} />
                {match.relevance.toFixed(2)}
              </span>
            )}
        </td>
      )}
    </tr>
  );
}

function countText(count: number | undefined): string {
  return count === undefined || count === 0 ? "–" : formatNumber(count);
}

/** How a rank came about: for those who tune descriptions. */
function Scores({ match }: Pick<ListedTool, "match">) {
  if (match === undefined) return null;
  return (
    <>
      <InertText as="p" class="why small" text={match.explanation} />
      {match.scores && (
        <p class="scores small" title="How each field contributes to the rank">
          {match.scores.map(([field, score]) => (
            <span key={field}>{field} {score.toFixed(2)}</span>
          ))}
        </p>
      )}
    </>
  );
}

function Summary({ tool }: { tool: ListedTool }) {
  if (tool.problem !== undefined) {
    return (
      <p class="cut" title={inertString(tool.problem)}>
        <span class="badge tone-bad">Invalid</span>
        <InertText text={tool.problem} />
      </p>
    );
  }
  return (
    <p class="cut" title={inertString(tool.summary)}>
      <WaitBadge server={tool.server} tool={tool.name} wait={tool.wait} />
      {!tool.isEnabled && <span class="badge">Off</span>}
      {tool.isPromoted && (
        <span class="badge tone-ok" title="Clients see a promoted description">
          Promoted
        </span>
      )}
      {tool.deprecated !== undefined && (
        <span class="badge tone-warn" title={inertString(tool.deprecated)}>Deprecated</span>
      )}
      {tool.summary === "" ? "No description" : <InertText text={tool.summary} />}
    </p>
  );
}
