import { Card, PageHeader } from "../../../../components/layout.tsx";
import {
  Field,
  FormFailure,
  NameField,
  PLAIN_NAME,
  PostForm,
  TextField,
} from "../../../../components/forms.tsx";
import { PendingButton } from "../../../../islands/forms.tsx";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { NEW_SERVER, serverPath, serverStep } from "../../../../lib/console/ui/pages.ts";
import { FoundServers, ServerEntry } from "../(_islands)/new_server.tsx";
import type { ServerForm } from "../(_page)/entry.ts";
import { type LimitFields, NO_LIMITS } from "../(_page)/entry_fields.ts";

const PLACEHOLDER = `https://example.com/mcp
npx -y @modelcontextprotocol/server-filesystem ~/notes
{ "mcpServers": { … } }`;
const SETTINGS_PLACEHOLDER = "Authorization: Bearer ${secret:NAME}\nAPI_KEY=…";

export function ServerEditor({ form }: { form: ServerForm }) {
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
      {form.error && (
        <FormFailure error={form.error} title={editing === undefined ? "Not added" : "Not saved"} />
      )}
      {editing !== undefined && form.error?.code === "CONFLICT" && (
        <p class="small">
          <a href={serverStep(editing, "edit")} f-client-nav={false}>Edit it as it is now</a>
        </p>
      )}
      {found === undefined ? <EntryForm form={form} /> : (
        <>
          <Card title={`${formatCount(found.length, "server")} in the text`} isFlush>
            <FoundServers text={form.entry} servers={found} />
          </Card>
          <p class="small">
            <a href={NEW_SERVER} f-client-nav={false}>Paste something else</a>
          </p>
        </>
      )}
    </div>
  );
}

function EntryForm({ form }: { form: ServerForm }) {
  const { editing } = form;
  return (
    <Card>
      <PostForm
        class="form form-wide"
        action={editing === undefined ? NEW_SERVER : serverStep(editing, "edit")}
        fields={form.version === undefined ? {} : { version: form.version }}
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
        <details class="edit-words" open={form.settings !== "" || form.folder !== ""}>
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
            <TextField
              id="folder"
              class="input mono"
              label="Folder"
              hint="The command's working folder; empty for the gateway's own."
              spellcheck={false}
              value={form.folder}
            />
          </div>
        </details>
        <ServerLimits limits={form.limits} />
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

interface LimitInput {
  id: keyof LimitFields;
  label: string;
  hint: string;
  /** A whole number without them. */
  options?: readonly (readonly [value: string, label: string])[];
}

const BY_ALL = "By all callers together; empty for no limit.";

const LIMIT_INPUTS: readonly LimitInput[] = [
  {
    id: "mode",
    label: "Calls that are let through",
    hint: "What a tool does is taken from its annotations.",
    options: [
      ["", "All"],
      ["confirm", "Those that may change or delete things only after a yes"],
      ["read-only", "Those that only read"],
    ],
  },
  { id: "callsPerMinute", label: "Calls a minute", hint: BY_ALL },
  { id: "maxConcurrent", label: "Calls at once", hint: BY_ALL },
  {
    id: "maxResultTokens",
    label: "Tokens of a result",
    hint: "A longer one is cut, and the rest is read page by page. Empty for no limit.",
  },
  {
    id: "trust",
    label: "Trust",
    hint: "Whether you vouch for what it says of its tools.",
    options: [["", "Trusted"], ["untrusted", "Not trusted"]],
  },
  {
    id: "changes",
    label: "Changes of its tools",
    hint: "What to do when a tool's definition changes.",
    options: [
      ["", "By trust: held where it is not trusted, else passed on and shown"],
      ["hold", "Held until approved"],
      ["notify", "Passed on, and shown under Review"],
      ["allow", "Passed on without a word"],
    ],
  },
];

function ServerLimits({ limits = NO_LIMITS }: { limits?: LimitFields | undefined }) {
  return (
    <details class="edit-words" open={Object.values(limits).some((value) => value !== "")}>
      <summary>Limits</summary>
      <div class="form">
        {LIMIT_INPUTS.map(({ id, options, ...texts }) =>
          options === undefined
            ? (
              <TextField
                key={id}
                id={id}
                {...texts}
                inputMode="numeric"
                autocomplete="off"
                value={limits[id]}
              />
            )
            : (
              <Field key={id} id={id} {...texts}>
                <select id={id} class="select" name={id} aria-describedby={`${id}-hint`}>
                  {options.map(([option, label]) => (
                    <option key={option} value={option} selected={option === limits[id]}>
                      {label}
                    </option>
                  ))}
                </select>
              </Field>
            )
        )}
      </div>
    </details>
  );
}
