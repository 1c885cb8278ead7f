import type { ToolRow } from "../lib/console/server_page.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { toolPath } from "../lib/console/ui/paths.ts";
import { InertText } from "./inert_text.tsx";
import { WaitBadge } from "./wait_badge.tsx";

/** The tools of one server. */
export function ToolsTable({ rows }: { rows: ToolRow[] }) {
  return (
    <table class="table tools-table is-single">
      <caption class="visually-hidden">Tools</caption>
      <thead>
        <tr>
          <th scope="col" class="col-tool">Name</th>
          <th scope="col" class="col-description">Description</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((tool) => (
          <tr key={tool.name} data-row>
            <td class="cut" title={inertString(tool.name)}>
              <a class="mono cover strong" href={toolPath(tool.server, tool.name)} data-row-link>
                <InertText text={tool.name} />
              </a>
            </td>
            <td class="cut muted" title={inertString(tool.summary)}>
              <WaitBadge server={tool.server} tool={tool.name} wait={tool.wait} />
              {tool.isOff && <span class="badge">Off</span>}
              {tool.summary === "" ? "No description" : <InertText text={tool.summary} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
