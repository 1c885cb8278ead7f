import type { ServerPage } from "../lib/console/server_page.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { serverStep } from "../lib/console/ui/paths.ts";
import { Confirm } from "./confirm.tsx";
import { DemoForm } from "./demo_form.tsx";
import { Icon } from "./icon.tsx";

/** What can be done with a server. */
export function ServerActions({ page }: { page: ServerPage }) {
  const { server } = page;
  const { name, source, state } = server;
  return (
    <div class="actions-row">
      {state !== "disabled" && (
        <form method="post" action={serverStep(name, "restart")} f-client-nav={false}>
          <button type="submit" class="button">
            <Icon name="refresh" size={14} />
            Restart
          </button>
        </form>
      )}
      {source.kind === "store" && <a class="button" href={serverStep(name, "edit")}>Edit</a>}
      {source.kind === "store" && <RemoveServer page={page} />}
      {source.kind === "demo" && <DemoForm action="remove" />}
      <a class="button button-primary" href={serverStep(name, "tools")}>Configure tools</a>
    </div>
  );
}

function RemoveServer({ page: { server, tools, usedBy } }: { page: ServerPage }) {
  const { name } = server;
  return (
    <Confirm
      id={`remove-${name}`}
      label="Remove"
      subject={name}
      title={`Remove ${name}?`}
      action={serverStep(name, "remove")}
      verb="Remove server"
      isDangerous
    >
      Clients lose its {formatCount(tools.total, "tool")}, and its door{" "}
      <code class="place">/servers/{name}/mcp</code> closes.{" "}
      {usedBy.length === 0 ? "No toolset uses its tools." : (
        <>
          {formatCount(usedBy.length, "toolset uses", "toolsets use")} its tools:{" "}
          {usedBy.slice(0, 5).join(", ")}
          {usedBy.length > 5 ? ` and ${usedBy.length - 5} more` : ""}.
        </>
      )}
    </Confirm>
  );
}
