import type { ClientSnippet } from "../lib/console/client_snippets.ts";
import { Card } from "./layout.tsx";
import { CodeBlock, CopyButton } from "./text.tsx";

interface ClientSnippetsProps {
  endpoint: string;
  snippets: ClientSnippet[];
}

export function ClientSnippets({ endpoint, snippets }: ClientSnippetsProps) {
  return (
    <Card title="Connect a client" isFlush>
      <p class="card-lead snippet-endpoint">
        <span class="mono break">{endpoint}</span>
        <CopyButton value={endpoint} label="Copy endpoint URL" />
      </p>
      {snippets.some(({ needsToken }) => needsToken) && (
        <p class="card-lead snippet-endpoint">
          <span>
            A token is required: replace <code>YOUR_TOKEN</code> with yours.
          </span>
          <a class="button" href="/security/tokens">Create a token</a>
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
            <p class="small muted">{command === undefined ? "Add" : "Or add"} this to {place}:</p>
            <CodeBlock code={code} label={`configuration for ${client}`} />
          </div>
        </details>
      ))}
    </Card>
  );
}
