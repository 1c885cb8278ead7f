import { Bar, WaitBadge } from "../../../../components/badges.tsx";
import { InertText } from "../../../../components/text.tsx";
import { SortHeading, Table } from "../../../../components/tables.tsx";
import type { Sorting } from "../../../../lib/console/lists.ts";
import { formatNumber, inertString } from "../../../../lib/console/ui/format.ts";
import { serverPath, toolPath } from "../../../../lib/console/ui/pages.ts";
import type { ListedTool, ToolColumn } from "../(_page)/model.ts";

interface ToolsCatalogProps {
  rows: ListedTool[];
  /** Missing if a search has ordered them. */
  order?: { sorting: Sorting<ToolColumn>; url: URL };
}

export function ToolsCatalog({ rows, order }: ToolsCatalogProps) {
  const sortable = (column: ToolColumn, label: string, name: string) =>
    order === undefined
      ? [label, name] as const
      : <SortHeading key={column} {...order} column={column} label={label} class={name} />;
  return (
    <Table
      caption={order === undefined ? "Tools, the best match first" : "Tools"}
      class={order === undefined ? "tools-table is-ranked" : "tools-table"}
      columns={[
        sortable("server", "Server", "col-server hide-small"),
        sortable("name", "Name", "col-tool"),
        ["Description", "col-description hide-small"],
        sortable("category", "Category", "col-category hide-medium"),
        sortable("tokens", "Tokens", "col-tokens number"),
        ...order === undefined ? [["Relevance", "col-relevance number"] as const] : [],
      ]}
    >
      {rows.map((tool) => <ToolRow key={`${tool.server}.${tool.name}`} tool={tool} />)}
    </Table>
  );
}

function ToolRow({ tool }: { tool: ListedTool }) {
  const { match } = tool;
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
        <div class="only-small muted">
          <InertText as="p" class="cut small mono" text={tool.server} />
          <Summary tool={tool} />
        </div>
      </td>
      <td class="muted hide-small">
        <Summary tool={tool} />
        {match?.scores && (
          <p class="scores small" title="What each field adds to its rank">
            {match.scores.map(([field, score]) => (
              <span key={field}>{field} {score.toFixed(2)}</span>
            ))}
          </p>
        )}
      </td>
      <InertText as="td" class="cut hide-medium" text={tool.category} />
      <td class="number">
        {!tool.isServed ? "–" : tool.tokens === undefined ? "counting" : formatNumber(tool.tokens)}
      </td>
      {match && (
        <td class="number">
          {match.relevance === undefined
            ? <span class="muted" title="Found by its letters alone">–</span>
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

function Summary({ tool }: { tool: ListedTool }) {
  const why = tool.match?.explanation ?? "";
  if (tool.problem !== undefined) {
    return (
      <p class="cut" title={inertString(tool.problem)}>
        <span class="badge tone-bad">Invalid</span>
        <InertText text={tool.problem} />
      </p>
    );
  }
  return (
    <>
      <p class="cut" title={inertString(tool.summary)}>
        <WaitBadge server={tool.server} tool={tool.name} wait={tool.wait} />
        {!tool.isEnabled && <span class="badge">Off</span>}
        {tool.isPromoted && (
          <span class="badge tone-ok" title="Clients read a description that was promoted">
            Promoted
          </span>
        )}
        {tool.deprecated !== undefined && (
          <span class="badge tone-warn" title={inertString(tool.deprecated)}>Deprecated</span>
        )}
        {tool.summary === "" ? "No description" : <InertText text={tool.summary} />}
      </p>
      {why !== "" && (
        <p class="why small" title={`Why this rank: ${inertString(why)}`}>
          <span class="visually-hidden">Why this rank:</span>
          <InertText text={why} />
        </p>
      )}
    </>
  );
}
