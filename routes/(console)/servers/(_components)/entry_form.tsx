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
import {
  type IsolationFields,
  type LimitFields,
  NO_LIMITS,
  NOT_ISOLATED,
} from "../(_page)/entry_fields.ts";

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
          ? "The gateway tests the connection before saving."
          : "The gateway tests the new configuration before replacing the current one."}
      />
      {form.error && (
        <FormFailure
          error={form.error}
          title={editing === undefined ? "The server was not added" : "The changes were not saved"}
        />
      )}
      {editing !== undefined && form.error?.code === "CONFLICT" && (
        <p class="small">
          <a href={serverStep(editing, "edit")} f-client-nav={false}>Load the current version</a>
        </p>
      )}
      {found === undefined ? <EntryForm form={form} /> : (
        <>
          <Card title={`${formatCount(found.length, "server")} found`} isFlush>
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
          label={editing === undefined ? "URL, command or mcp.json" : "URL or command"}
          hint={editing === undefined
            ? "The mcp.json formats of Claude, Cursor and VS Code work, in whole or in part."
            : "Values shown as *** are kept; type a new value to change one."}
        >
          <ServerEntry value={form.entry} placeholder={PLACEHOLDER} />
        </Field>
        {editing === undefined && (
          <NameField
            id="name"
            name="name"
            label="Name"
            hint="Letters, digits, _ and -. Leave empty to derive a name."
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
              hint="One per line: Name: value for a URL, NAME=value for a command. ${secret:NAME} inserts a secret from Security, Secrets; ${keychain:NAME}, ${vault:PATH#KEY} and ${op://VAULT/ITEM/FIELD} insert one kept elsewhere."
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
              hint="The command's working folder. Default: the gateway's own."
              spellcheck={false}
              value={form.folder}
            />
          </div>
        </details>
        <ServerIsolation isolation={form.isolation} />
        <ServerLimits limits={form.limits} />
        <div class="form-actions">
          <PendingButton
            label={editing === undefined ? "Add server" : "Save changes"}
            pending="Connecting…"
          />
          <a
            class="button"
            href={editing === undefined ? "/servers" : serverPath(editing)}
            aria-current="false"
          >
            Cancel
          </a>
        </div>
      </PostForm>
    </Card>
  );
}

const ISOLATION_KINDS = [
  ["", "None: it can do anything your user can do"],
  ["sandbox", "Sandbox: only what is named here"],
  ["container", "Container: only what is named here, in an image"],
] as const;

const ISOLATION_LISTS: readonly {
  name: "read" | "write" | "net";
  label: string;
  hint: string;
}[] = [
  { name: "read", label: "Folders to read", hint: "One per line. Files work too." },
  { name: "write", label: "Folders to read and write", hint: "One per line." },
  {
    name: "net",
    label: "Hosts",
    hint: "One per line: api.example.com, or localhost:5432. Only for sandboxes; none by default.",
  },
];

/** For a command: what its program can reach. */
function ServerIsolation(
  { isolation = NOT_ISOLATED }: { isolation?: IsolationFields | undefined },
) {
  return (
    <details class="edit-words" open={isolation.kind !== ""}>
      <summary>Isolation of a command</summary>
      <div class="form">
        <Field
          id="isolation.kind"
          label="Isolation"
          hint="Whether the program is kept apart from your files, other programs and the network."
        >
          <select
            id="isolation.kind"
            class="select"
            name="isolation.kind"
            aria-describedby="isolation.kind-hint"
          >
            {ISOLATION_KINDS.map(([kind, label]) => (
              <option key={kind} value={kind} selected={kind === isolation.kind}>{label}</option>
            ))}
          </select>
        </Field>
        {ISOLATION_LISTS.map(({ name, ...texts }) => {
          const id = `isolation.${name}`;
          return (
            <Field key={id} id={id} {...texts}>
              <textarea
                id={id}
                class="input mono"
                name={id}
                rows={2}
                autocapitalize="off"
                autocomplete="off"
                spellcheck={false}
                aria-describedby={`${id}-hint`}
                value={isolation[name]}
              />
            </Field>
          );
        })}
        <TextField
          id="isolation.image"
          class="input mono"
          label="Image"
          hint="Only for containers. Default for npx: Node 22."
          spellcheck={false}
          value={isolation.image}
        />
      </div>
    </details>
  );
}

interface LimitInput {
  id: keyof LimitFields;
  label: string;
  hint: string;
  /** A whole number without them. */
  options?: readonly (readonly [value: string, label: string])[];
}

const BY_ALL = "For all clients together. Leave empty for no limit.";

const LIMIT_INPUTS: readonly LimitInput[] = [
  {
    id: "mode",
    label: "Allowed calls",
    hint: "Based on the tools' annotations.",
    options: [
      ["", "All"],
      ["confirm", "All; ask before calls that may change or delete things"],
      ["read-only", "Read-only calls"],
    ],
  },
  { id: "callsPerMinute", label: "Calls per minute", hint: BY_ALL },
  { id: "maxConcurrent", label: "Concurrent calls", hint: BY_ALL },
  {
    id: "maxResultTokens",
    label: "Tokens per result",
    hint: "Longer results are split into pages. Leave empty for no limit.",
  },
  {
    id: "answers",
    label: "Content guard",
    hint: "For hidden text, instructions to the model and secrets in what the server says.",
    options: [
      ["", "Gateway default"],
      ["off", "Off"],
      ["mark", "Mark and redact"],
      ["block", "Block"],
    ],
  },
  {
    id: "instance",
    label: "Instances",
    hint: "Which clients share a connection and, for a program, its process.",
    options: [
      ["", "Shared by all clients that can share one"],
      ["client", "One for each client"],
      ["root", "One for each client, in the folder of its first root"],
    ],
  },
  {
    id: "idleTimeoutMs",
    label: "Idle time in ms",
    hint: "A program that is not used for this long stops until its next call.",
  },
  {
    id: "trust",
    label: "Trust",
    hint:
      "Normal: passages that look like orders to the model are removed, attacks are quarantined. Trusted: passages are removed, nothing is quarantined for them. Not trusted: the tool is quarantined in either case.",
    options: [["", "Normal"], ["trusted", "Trusted"], ["untrusted", "Not trusted"]],
  },
  {
    id: "changes",
    label: "Policy for changed tools",
    hint: "What to do when a tool's definition changes.",
    options: [
      ["", "Default: hold if not trusted, otherwise apply and show under Review"],
      ["hold", "Hold until approved"],
      ["notify", "Apply and show under Review"],
      ["allow", "Apply without notice"],
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
