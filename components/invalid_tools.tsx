import type { ServerPage } from "../lib/console/server_page.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { CodeBlock } from "./code_block.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";

/** What a server lists that would break clients, each with what is wrong with it. */
export function InvalidTools(
  { server, entries, more }: ServerPage["invalid"] & { server: string },
) {
  return (
    <Card
      title="Invalid tools"
      aside={formatCount(entries.length + more, "tool")}
      isFlush
    >
      <p class="card-lead muted">
        The server lists these, but they are no valid MCP tools. No client is shown them, because
        some would refuse the whole list. Their maker has to correct them.
      </p>
      <ul class="rows">
        {entries.map(({ name, problem, seenAt, definition }, index) => (
          <li key={index} class="row">
            <span class="state tone-bad">
              <Icon name="error" size={14} />
              Invalid
            </span>
            <div class="row-text">
              <p class="mono strong">
                <InertText text={name} />
              </p>
              <p class="muted">
                <InertText text={problem} />
              </p>
              <details class="definition">
                <summary>Definition as the server sent it</summary>
                <CodeBlock code={definition} label={`definition ${index + 1}`} />
              </details>
            </div>
            <span class="row-aside">
              <Ago at={seenAt} />
            </span>
          </li>
        ))}
        {more > 0 && (
          <li class="row">
            <a href={`/tools?${new URLSearchParams({ state: "invalid", server })}`}>
              {formatCount(more, "more invalid tool")}
            </a>
          </li>
        )}
      </ul>
    </Card>
  );
}
