import type { ToolRow } from "../lib/console/server_page.ts";
import type { Sorting } from "../lib/console/sorting.ts";
import type { ToolColumn } from "../lib/console/tools_page.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { serverPath, toolPath } from "../lib/console/ui/paths.ts";
import { InertText } from "./inert_text.tsx";
import { SortHeading } from "./sort_heading.tsx";

interface ToolsTableProps {
  rows: ToolRow[];
  /** Left out where all tools are of one server: then neither its column nor sorting is shown. */
  order?: { sorting: Sorting<ToolColumn>; url: URL };
}

export function ToolsTable({ rows, order }: ToolsTableProps) {
  return (
    <table class={order === undefined ? "table tools-table is-single" : "table tools-table"}>
      <caption class="visually-hidden">Tools</caption>
      <thead>
        <tr>
          {order !== undefined && (
            <SortHeading {...order} column="server" label="Server" class="col-server hide-small" />
          )}
          {order === undefined
            ? <th scope="col" class="col-tool">Name</th>
            : <SortHeading {...order} column="name" label="Name" class="col-tool" />}
          <th scope="col" class="col-description">Description</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((tool) => (
          <tr key={`${tool.server}.${tool.name}`} data-row>
            {order !== undefined && (
              <td class="cut hide-small">
                <a class="mono above quiet-link" href={serverPath(tool.server)}>
                  <InertText text={tool.server} />
                </a>
              </td>
            )}
            <td class="cut" title={inertString(tool.name)}>
              <a class="mono cover strong" href={toolPath(tool.server, tool.name)} data-row-link>
                <InertText text={tool.name} />
              </a>
            </td>
            <td class="cut muted" title={inertString(tool.summary)}>
              {tool.summary === "" ? "No description" : <InertText text={tool.summary} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
