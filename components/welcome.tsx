import type { ComponentChildren } from "preact";
import type { ServerStatus } from "../lib/core/server.ts";
import type { ToolRow } from "../lib/console/server_page.ts";
import { toolPath } from "../lib/console/ui/paths.ts";
import { Card } from "./card.tsx";
import { CodeBlock } from "./code_block.tsx";
import { InertText } from "./inert_text.tsx";

const EXAMPLE = `{
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "."
      ]
    }
  }
}`;

/** The first run: what the demo is for, and how to add servers of one's own. */
export function Welcome(
  { server, tools, children }: {
    server: ServerStatus;
    tools: ToolRow[];
    /** Stands below the tools. */
    children: ComponentChildren;
  },
) {
  return (
    <div class="columns">
      <div class="stack">
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
        {children}
      </div>
      <Card title="Add your servers">
        <ol class="steps">
          <li>
            <p>
              Save your servers as <code>.mcp.json</code>{" "}
              in the folder where you start Quartermaster. The files of Claude Code, Claude Desktop,
              Cursor and VS Code work as they are.
            </p>
            <CodeBlock code={EXAMPLE} label="example .mcp.json" />
          </li>
          <li>
            <p>
              They are connected as soon as the file is saved. To use a file that is elsewhere,
              start with <code class="whole">--config FILE</code>.
            </p>
          </li>
        </ol>
      </Card>
    </div>
  );
}
