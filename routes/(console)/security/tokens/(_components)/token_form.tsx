import { RIGHT_MEANINGS } from "../../../../../lib/auth/grants.ts";
import type { TokenPreview } from "../(_page)/form.ts";
import type { TokensPage } from "../(_page)/model.ts";
import { RIGHTS } from "../../../../../lib/core/access.ts";
import { formatCount } from "../../../../../lib/console/ui/format.ts";
import { Card } from "../../../../../components/layout.tsx";
import {
  Field,
  FieldError,
  FormCard,
  NameField,
  problemProps,
} from "../../../../../components/forms.tsx";
import { InertText } from "../../../../../components/text.tsx";

const PATH = "/security/tokens";
const DAYS = [["", "Never"], ["1", "After a day"], ["7", "After a week"], ["30", "After 30 days"], [
  "90",
  "After 90 days",
], ["365", "After a year"]] as const;

/** A list to check, not to read through. */
const SERVERS = 20;

const MODES = [
  ["", "All"],
  ["confirm", "Calls that may change or delete things need approval"],
  ["read-only", "Only calls that read"],
] as const;

/** Makes a token; what it would admit can be looked at first. */
export function TokenForm({ page }: { page: TokensPage }) {
  const { fields, projects, preview } = page;
  return (
    <div class="token-make">
      <FormCard
        id="new-token"
        title="New token"
        action={PATH}
        busy="Creating…"
        fields={{ filled: "yes" }}
      >
        <Field id="token-name" label="Name" hint="Whose it is or what it is for.">
          <input
            id="token-name"
            class="input"
            name="name"
            required
            title="Whose token it is, or what it is for"
            maxLength={80}
            autocomplete="off"
            autofocus={page.nameProblem !== undefined}
            value={fields.name}
            {...problemProps("token-name", page.nameProblem)}
          />
          <FieldError id="token-name" problem={page.nameProblem} />
        </Field>
        <Rights page={page} />
        <Patterns
          id="servers"
          label="Servers"
          hint="Names, separated by commas: * stands for any text, ! before a name keeps it out. Empty admits all."
          value={fields.servers}
        />
        <Patterns
          id="tools"
          label="Tools"
          hint="As server.tool: git.*, *.read_*, !git.push."
          value={fields.tools}
        />
        <Patterns
          id="toolsets"
          label="Toolsets"
          hint="Which saved toolsets it may use."
          value={fields.toolsets}
        />
        <details
          class="edit-words"
          open={[fields.project, fields.perMinute, fields.concurrent, fields.mode]
            .some((word) => word !== "")}
        >
          <summary>Project and limits</summary>
          <div class="form">
            <Field
              id="token-project"
              label="Project"
              hint={projects.length === 0
                ? "There are no projects yet."
                : "The only one it can be used in."}
            >
              <select
                id="token-project"
                class="select"
                name="project"
                aria-describedby="token-project-hint"
              >
                <option value="">Any</option>
                {projects.map((name) => (
                  <option key={name} value={name} selected={name === fields.project}>
                    {name}
                  </option>
                ))}
              </select>
            </Field>
            <Field
              id="token-mode"
              label="Calls it may make"
              hint="What a tool does is taken from its annotations, unless the server's entry says otherwise."
            >
              <select
                id="token-mode"
                class="select"
                name="mode"
                aria-describedby="token-mode-hint"
              >
                {MODES.map(([mode, label]) => (
                  <option key={mode} value={mode} selected={mode === fields.mode}>{label}</option>
                ))}
              </select>
            </Field>
            <Count id="perMinute" label="Calls a minute" value={fields.perMinute} />
            <Count id="concurrent" label="Calls at once" value={fields.concurrent} />
          </div>
        </details>
        <Field id="token-expires" label="Expires">
          <select id="token-expires" class="select" name="expires">
            {DAYS.map(([days, label]) => (
              <option key={days} value={days} selected={days === fields.expires}>{label}</option>
            ))}
          </select>
        </Field>
        <div class="form-actions">
          <button type="submit" class="button button-primary" name="change" value="create">
            Make token
          </button>
          <button
            type="submit"
            class="button"
            formnovalidate
            formmethod="get"
            formaction={`${PATH}#admits`}
          >
            Show what it admits
          </button>
        </div>
      </FormCard>
      {preview === undefined ? null : <Preview preview={preview} />}
    </div>
  );
}

function Rights({ page: { fields, grantable } }: { page: TokensPage }) {
  return (
    <fieldset class="rights">
      <legend>Rights</legend>
      {RIGHTS.map((right) => (
        <label key={right} class="check right">
          <input
            type="checkbox"
            name="right"
            value={right}
            checked={fields.rights.includes(right)}
            disabled={!grantable.includes(right)}
          />
          <span>
            <span class="strong">{right}</span>{" "}
            <span class="muted">
              {RIGHT_MEANINGS[right]}
              {grantable.includes(right) ? "" : " (your own token does not have it)"}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Patterns(
  { id, label, hint, value }: {
    id: "servers" | "tools" | "toolsets";
    label: string;
    hint: string;
    value: string;
  },
) {
  return (
    <NameField
      id={`token-${id}`}
      name={id}
      label={label}
      hint={hint}
      value={value}
      placeholder="*"
    />
  );
}

function Count({ id, label, value }: { id: string; label: string; value: string }) {
  return (
    <Field id={`token-${id}`} label={label} hint="At most; empty for no limit.">
      <input
        id={`token-${id}`}
        class="input"
        name={id}
        inputMode="numeric"
        value={value}
        aria-describedby={`token-${id}-hint`}
      />
    </Field>
  );
}

function Preview({ preview: { servers, toolsets, tools } }: { preview: TokenPreview }) {
  return (
    <div id="admits">
      <Card title="What it admits" aside={formatCount(tools, "tool")}>
        <div class="stack">
          {servers.length === 0
            ? <p class="muted">No server, and so no tool.</p>
            : (
              <ul class="admits">
                {servers.slice(0, SERVERS).map(({ name, admitted, all, tools, more }) => (
                  <li key={name}>
                    <p>
                      <span class="mono strong">{name}</span>{" "}
                      <span class="muted small">
                        {all === 0 ? "no tools yet" : `${admitted} of ${formatCount(all, "tool")}`}
                      </span>
                    </p>
                    {tools.length === 0 ? null : (
                      <p class="small muted">
                        {tools.map((tool, index) => (
                          <span key={tool}>
                            {index > 0 && ", "}
                            <InertText text={tool} />
                          </span>
                        ))}
                        {more > 0 ? ` and ${more} more` : ""}
                      </p>
                    )}
                  </li>
                ))}
                {servers.length > SERVERS && (
                  <li class="muted">and {formatCount(servers.length - SERVERS, "more server")}</li>
                )}
              </ul>
            )}
          <p class="small muted">
            {toolsets.length === 0
              ? "No saved toolset."
              : `Toolsets: ${toolsets.slice(0, 20).join(", ")}${toolsets.length > 20 ? " …" : ""}`}
          </p>
        </div>
      </Card>
    </div>
  );
}
