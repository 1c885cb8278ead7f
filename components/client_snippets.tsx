import type { ClientSnippet } from "../lib/console/client_snippets.ts";
import { Card } from "./card.tsx";
import { CodeBlock } from "./code_block.tsx";
import { CopyButton } from "./copy_button.tsx";

interface ClientSnippetsProps {
  /** The door's address. */
  door: string;
  snippets: ClientSnippet[];
}

/** How a client is told of a door: its address, and what goes into each client's file. */
export function ClientSnippets({ door, snippets }: ClientSnippetsProps) {
  return (
    <Card title="Connect a client" isFlush>
      <p class="card-lead snippet-door">
        <span class="mono break">{door}</span>
        <CopyButton value={door} label="Copy the door's address" />
      </p>
      {snippets.some(({ needsToken }) => needsToken) && (
        <p class="card-lead snippet-door">
          <span>
            A token is needed to come in: put one in the place of <code>YOUR_TOKEN</code>.
          </span>
          <a class="button" href="/security/tokens">Make a token</a>
        </p>
      )}
      {snippets.map(({ client, place, code, command }) => (
        // One name: opening one closes the others.
        <details key={client} class="schema" name="client">
          <summary>{client}</summary>
          <div class="snippet">
            {command === undefined ? null : (
              <>
                <p class="small muted">Run this once:</p>
                <CodeBlock code={command} label={`command for ${client}`} />
              </>
            )}
            <p class="small muted">{command === undefined ? "Put" : "Or put"} this into {place}:</p>
            <CodeBlock code={code} label={`configuration for ${client}`} />
          </div>
        </details>
      ))}
    </Card>
  );
}
