import type { ComponentChildren } from "preact";
import { Card } from "../../../components/layout.tsx";
import { CodeBlock, InertText } from "../../../components/text.tsx";
import { PostForm } from "../../../components/forms.tsx";
import { Icon } from "../../../components/icon.tsx";
import type { Tour } from "../../../lib/console/tour.ts";
import { NEW_SERVER, NEW_TOOLSET } from "../../../lib/console/ui/pages.ts";
import { TourEnd } from "../(_islands)/dashboard.tsx";

const EXAMPLE = `{
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]
    }
  }
}`;

/** The first run in three steps, each ticked once it is done; it ends with a connected client. */
export function TourCard({ tour }: { tour: Tour }) {
  const { hasServer, hasChoice, client, endpoint } = tour;
  const done = [hasServer, hasChoice, client !== undefined];
  const next = done.indexOf(false);
  return (
    <Card
      title="Set up in three steps"
      aside={
        <PostForm action="/actions" fields={{ action: "finish-tour", back: "/" }}>
          <button type="submit" class="button">
            {client === undefined ? "Skip the tour" : "Close the tour"}
          </button>
        </PostForm>
      }
    >
      <ol class="tour">
        <Step number={1} title="Add a server" isDone={hasServer} isNext={next === 0}>
          <p>
            Save your servers as <code>.mcp.json</code>{" "}
            in the folder where you start Quartermaster. Files of Claude Code, Claude Desktop,
            Cursor and VS Code work unchanged, and changes apply when you save. Or{" "}
            <a href={NEW_SERVER}>add one here</a>.
          </p>
          <CodeBlock code={EXAMPLE} label="example .mcp.json" />
        </Step>
        <Step number={2} title="Pick tools" isDone={hasChoice} isNext={next === 1}>
          <p>
            A toolset is the few tools that a task needs. Clients see the equipped toolset's tools,
            and can search for all others. <a href={NEW_TOOLSET}>Create a toolset</a>
          </p>
        </Step>
        <Step number={3} title="Connect a client" isDone={client !== undefined} isNext={next === 2}>
          {client === undefined
            ? (
              <>
                <p>
                  Any MCP client that supports HTTP can use the URL{" "}
                  <code class="place">{endpoint}</code>. For Claude Code:
                </p>
                <CodeBlock
                  code={`claude mcp add --transport http quartermaster ${endpoint}`}
                  label="command for Claude Code"
                />
                <p class="muted" role="status">Waiting for a client to connect.</p>
              </>
            )
            : (
              <p role="status">
                <InertText text={client} /> is connected. That is all it takes.
                <TourEnd />
              </p>
            )}
        </Step>
      </ol>
    </Card>
  );
}

interface StepProps {
  number: number;
  title: string;
  isDone: boolean;
  isNext: boolean;
  children: ComponentChildren;
}

/** Folded away unless it is the next step, or the last one once it is done. */
function Step({ number, title, isDone, isNext, children }: StepProps) {
  return (
    <li class="tour-step" data-done={isDone} {...(isNext ? { "aria-current": "step" } : {})}>
      <details open={isNext || (isDone && number === 3)}>
        <summary>
          <span class="tour-mark" aria-hidden="true">
            {isDone ? <Icon name="check" size={14} /> : number}
          </span>
          <span class="tour-title">{title}</span>
          {isDone && <span class="visually-hidden">, done</span>}
        </summary>
        <div class="tour-body">{children}</div>
      </details>
    </li>
  );
}
