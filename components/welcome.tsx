import type { ServerStatus } from "../lib/core/server.ts";
import type { ToolRow } from "../lib/console/server_page.ts";
import { toolPath } from "../lib/console/ui/paths.ts";
import { Card } from "./card.tsx";
import { InertText } from "./inert_text.tsx";

/** The first run: what the demo is for. */
export function Welcome({ server, tools }: { server: ServerStatus; tools: ToolRow[] }) {
  return (
    <Card title="Look around" isFlush>
      <p class="card-lead">
        No servers configured yet: the demo server <code>{server.name}</code>{" "}
        is connected so that you can look around.
      </p>
      <ul class="rows">
        {tools.map((tool) => (
          <li key={tool.name} class="row row-link" data-row>
            <div class="row-text">
              <a href={toolPath(tool.server, tool.name)} class="mono cover" data-row-link>
                <InertText text={tool.name} />
              </a>
              <p class="muted cut">
                <InertText text={tool.summary} />
              </p>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
