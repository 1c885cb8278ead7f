import { Bar, WaitBadge } from "../../../../components/badges.tsx";
import { InertText } from "../../../../components/text.tsx";
import { SortHeading } from "../../../../components/tables.tsx";
import type { Sorting } from "../../../../lib/console/lists.ts";
import { formatNumber, inertString } from "../../../../lib/console/ui/format.ts";
import { serverPath, toolPath } from "../../../../lib/console/ui/pages.ts";
import type { ListedTool, ToolColumn } from "../(_page)/model.ts";

interface ToolsCatalogProps {
  rows: ListedTool[];
  /** Left out where a search has put them in order. */
  order?: { sorting: Sorting<ToolColumn>; url: URL };
}

const HEADINGS: { column: ToolColumn; label: string; class: string }[] = [
  { column: "server", label: "Server", class: "col-server hide-small" },
  { column: "name", label: "Name", class: "col-tool" },
];
const LAST_HEADINGS: typeof HEADINGS = [
  { column: "category", label: "Category", class: "col-category hide-medium" },
  { column: "tokens", label: "Tokens", class: "col-tokens number" },
];

/** Tools of all servers, with what each costs; in a search also how well each fits, and why. */
export function ToolsCatalog({ rows, order }: ToolsCatalogProps) {
  const heading = (props: typeof HEADINGS[number]) =>
    order === undefined
      ? <th key={props.column} scope="col" class={props.class}>{props.label}</th>
      : <SortHeading key={props.column} {...order} {...props} />;
  return (
    <table class={order === undefined ? "table tools-table is-ranked" : "table tools-table"}>
      <caption class="visually-hidden">
        {order === undefined ? "Tools, the best match first" : "Tools"}
      </caption>
      <thead>
        <tr>
          {HEADINGS.map(heading)}
          <th scope="col" class="col-description hide-small">Description</th>
          {LAST_HEADINGS.map(heading)}
          {order === undefined && <th scope="col" class="col-relevance number">Relevance</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map((tool) => <ToolRow key={`${tool.server}.${tool.name}`} tool={tool} />)}
      </tbody>
    </table>
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
        {match?.scores === undefined
          ? null
          : (
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
      {match === undefined ? null : (
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

/** What it does, and in a search why it was found. */
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
        {tool.deprecated === undefined
          ? null
          : <span class="badge tone-warn" title={inertString(tool.deprecated)}>Deprecated</span>}
        {tool.summary === "" ? "No description" : <InertText text={tool.summary} />}
      </p>
      {why === "" ? null : (
        <p class="why small" title={`Why this rank: ${inertString(why)}`}>
          <span class="visually-hidden">Why this rank:</span>
          <InertText text={why} />
        </p>
      )}
    </>
  );
}
