import FoundServers from "../islands/found_servers.tsx";
import PendingButton from "../islands/pending_button.tsx";
import ServerEntry from "../islands/server_entry.tsx";
import type { ServerForm as Form } from "../lib/console/server_form.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { NEW_SERVER, serverPath, serverStep } from "../lib/console/ui/paths.ts";
import { Card } from "./card.tsx";
import { Field } from "./field.tsx";
import { FormFailure } from "./form_failure.tsx";
import { NameField, PLAIN_NAME } from "./name_field.tsx";
import { PageHeader } from "./page_header.tsx";
import { ServerLimits } from "./server_limits.tsx";

const PLACEHOLDER = `https://example.com/mcp
npx -y @modelcontextprotocol/server-filesystem ~/notes
{ "mcpServers": { … } }`;
const SETTINGS_PLACEHOLDER = "Authorization: Bearer ${secret:NAME}\nAPI_KEY=…";

/** Adds a server, or changes one that was added before. */
export function ServerForm({ form }: { form: Form }) {
  const { editing, found } = form;
  return (
    <div class="stack">
      <PageHeader
        title={editing === undefined ? "Add server" : (
          <>
            Edit <span class="mono">{editing}</span>
          </>
        )}
        lead={editing === undefined
          ? "It is connected to first, so that nothing is stored that cannot work."
          : "The changed entry is tried first; until it works, the present one stays."}
      />
      {form.error === undefined ? null : (
        <FormFailure
          error={form.error}
          title={editing === undefined ? "Not added" : "Not saved"}
        />
      )}
      {editing === undefined || form.error?.code !== "CONFLICT" ? null : (
        <p class="small">
          <a href={serverStep(editing, "edit")} f-client-nav={false}>Edit it as it is now</a>
        </p>
      )}
      {found === undefined
        ? null
        : (
          <Card title={`${formatCount(found.length, "server")} in the text`} isFlush>
            <FoundServers text={form.entry} servers={found} />
          </Card>
        )}
      {found === undefined ? <EntryForm form={form} /> : (
        <p class="small">
          <a href={NEW_SERVER} f-client-nav={false}>Paste something else</a>
        </p>
      )}
    </div>
  );
}

function EntryForm({ form }: { form: Form }) {
  const { editing } = form;
  const hasMore = form.settings !== "" || form.folder !== "";
  return (
    <Card>
      <form
        class="form form-wide"
        method="post"
        action={editing === undefined ? NEW_SERVER : serverStep(editing, "edit")}
        f-client-nav={false}
      >
        <Field
          id="entry"
          label={editing === undefined ? "Address, command or mcp.json" : "Address or command"}
          hint={editing === undefined
            ? "An mcp.json in the shape of Claude, Cursor or VS Code; whole or a part of it."
            : "What shows as *** is kept; write it anew to change it."}
        >
          <ServerEntry value={form.entry} placeholder={PLACEHOLDER} />
        </Field>
        {editing === undefined && (
          <NameField
            id="name"
            name="name"
            label="Name"
            hint="Letters, digits, _ and -; empty takes one from what you paste."
            value={form.name}
            pattern={PLAIN_NAME}
            title="1 to 64 letters, digits, _ or -"
            maxLength={64}
            isShort
          />
        )}
        <details class="edit-words" open={hasMore}>
          <summary>Headers, variables and folder</summary>
          <div class="form">
            <Field
              id="settings"
              label="Headers or variables"
              hint="One a line: Name: value for an address, NAME=value for a command. ${secret:NAME} stands for what is set under Security, Secrets."
            >
              <textarea
                id="settings"
                class="input mono"
                name="settings"
                rows={3}
                autocapitalize="off"
                autocomplete="off"
                spellcheck={false}
                placeholder={SETTINGS_PLACEHOLDER}
                aria-describedby="settings-hint"
                value={form.settings}
              />
            </Field>
            <Field
              id="folder"
              label="Folder"
              hint="Where a command is run; empty for the gateway's own."
            >
              <input
                id="folder"
                class="input mono"
                name="folder"
                spellcheck={false}
                value={form.folder}
                aria-describedby="folder-hint"
              />
            </Field>
          </div>
        </details>
        <ServerLimits words={form.limits} />
        {form.version === undefined
          ? null
          : <input type="hidden" name="version" value={form.version} />}
        <div class="form-actions">
          <PendingButton
            label={editing === undefined ? "Add server" : "Save changes"}
            pending="Connecting…"
          />
          <a class="button" href={editing === undefined ? "/servers" : serverPath(editing)}>
            Cancel
          </a>
        </div>
      </form>
    </Card>
  );
}
