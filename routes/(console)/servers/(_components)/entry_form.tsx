import { Card, PageHeader } from "../../../../components/layout.tsx";
import {
  Field,
  FormFailure,
  NameField,
  PLAIN_NAME,
  PostForm,
} from "../../../../components/forms.tsx";
import { PendingButton } from "../../../../islands/forms.tsx";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { NEW_SERVER, serverPath, serverStep } from "../../../../lib/console/ui/pages.ts";
import { FoundServers, ServerEntry } from "../(_islands)/new_server.tsx";
import type { ServerForm as Form } from "../(_page)/entry.ts";
import { type LimitFields, NO_LIMITS } from "../(_page)/entry_fields.ts";

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
          : "The gateway tries the changed entry first; the current one stays until it works."}
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
      <PostForm
        class="form form-wide"
        action={editing === undefined ? NEW_SERVER : serverStep(editing, "edit")}
      >
        <Field
          id="entry"
          label={editing === undefined ? "Address, command or mcp.json" : "Address or command"}
          hint={editing === undefined
            ? "An mcp.json in the shape of Claude, Cursor or VS Code; whole or a part of it."
            : "Values shown as *** are kept; type a new value to change one."}
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
              hint="The command's working folder; empty for the gateway's own."
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
        <ServerLimits limits={form.limits} />
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
      </PostForm>
    </Card>
  );
}

type Options = readonly (readonly [value: string, label: string])[];

const MODES: Options = [
  ["", "All"],
  ["confirm", "Those that may change or delete things only after a yes"],
  ["read-only", "Those that only read"],
];
const TRUST: Options = [["", "Trusted"], ["untrusted", "Not trusted"]];
const CHANGES: Options = [
  ["", "By trust: held where it is not trusted, else passed on and shown"],
  ["hold", "Held until approved"],
  ["notify", "Passed on, and shown under Review"],
  ["allow", "Passed on without a word"],
];

/** Which calls are let through, how many, and what happens when a tool changes. */
function ServerLimits({ limits = NO_LIMITS }: { limits?: LimitFields | undefined }) {
  return (
    <details class="edit-words" open={Object.values(limits).some((value) => value !== "")}>
      <summary>Limits</summary>
      <div class="form">
        <Choice
          id="mode"
          label="Calls that are let through"
          hint="What a tool does is taken from its annotations."
          options={MODES}
          value={limits.mode}
        />
        <Count id="callsPerMinute" label="Calls a minute" value={limits.callsPerMinute} />
        <Count id="maxConcurrent" label="Calls at once" value={limits.maxConcurrent} />
        <Count
          id="maxResultTokens"
          label="Tokens of a result"
          hint="A longer one is cut, and the rest is read page by page. Empty for no limit."
          value={limits.maxResultTokens}
        />
        <Choice
          id="trust"
          label="Trust"
          hint="Whether you vouch for what it says of its tools."
          options={TRUST}
          value={limits.trust}
        />
        <Choice
          id="changes"
          label="Changes of its tools"
          hint="What to do when a tool's definition changes."
          options={CHANGES}
          value={limits.changes}
        />
      </div>
    </details>
  );
}

interface ChoiceProps {
  id: keyof LimitFields;
  label: string;
  hint: string;
  options: Options;
  value: string;
}

function Choice({ id, label, hint, options, value }: ChoiceProps) {
  return (
    <Field id={id} label={label} hint={hint}>
      <select id={id} class="select" name={id} aria-describedby={`${id}-hint`}>
        {options.map(([option, label]) => (
          <option key={option} value={option} selected={option === value}>{label}</option>
        ))}
      </select>
    </Field>
  );
}

interface CountProps {
  id: keyof LimitFields;
  label: string;
  hint?: string;
  value: string;
}

function Count(
  { id, label, value, hint = "By all callers together; empty for no limit." }: CountProps,
) {
  return (
    <Field id={id} label={label} hint={hint}>
      <input
        id={id}
        class="input"
        name={id}
        inputMode="numeric"
        autocomplete="off"
        value={value}
        aria-describedby={`${id}-hint`}
      />
    </Field>
  );
}
