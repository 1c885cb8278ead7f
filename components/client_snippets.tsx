import type { ClientSnippet } from "../lib/console/client_snippets.ts";
import { Card } from "./layout.tsx";
import { CodeBlock, CopyButton } from "./text.tsx";

interface ClientSnippetsProps {
  endpoint: string;
  snippets: ClientSnippet[];
  /** The page is about something else: the clients are one row until they are wanted. */
  isFolded?: boolean;
}

export function ClientSnippets({ endpoint, snippets, isFolded = false }: ClientSnippetsProps) {
  const list = snippets.map((snippet) => <Snippet key={snippet.client} snippet={snippet} />);
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
      {isFolded
        ? (
          <details class="schema snippet-fold">
            <summary>Set up {listed(snippets)}</summary>
            <div>{list}</div>
          </details>
        )
        : list}
    </Card>
  );
}

/** "Claude Code, Cursor and 9 more clients" */
function listed(snippets: readonly ClientSnippet[]): string {
  const [first, second] = snippets.map(({ client }) => client);
  return `${first}, ${second} and ${snippets.length - 2} more clients`;
}

function Snippet({ snippet: { client, place, code, command } }: { snippet: ClientSnippet }) {
  return (
    // One name: opening one closes the others.
    <details class="schema" name="client">
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
  );
}
