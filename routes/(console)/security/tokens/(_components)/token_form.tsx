import type { TokenPreview } from "../(_page)/form.ts";
import type { TokensPage } from "../(_page)/model.ts";
import { formatCount } from "../../../../../lib/console/ui/format.ts";
import { Card } from "../../../../../components/layout.tsx";
import { FormCard, NameField, SelectField, TextField } from "../../../../../components/forms.tsx";
import { InertText } from "../../../../../components/text.tsx";

const PATH = "/security/tokens";
const DAYS = [
  ["", "Never"],
  ["1", "After a day"],
  ["7", "After a week"],
  ["30", "After 30 days"],
  ["90", "After 90 days"],
  ["365", "After a year"],
] as const;

/** A list to check, not to read through. */
const SERVERS = 20;

const MODES = [
  ["", "All"],
  ["confirm", "Calls that may change or delete things need approval"],
  ["read-only", "Only calls that read"],
] as const;

const PATTERNS = [
  [
    "servers",
    "Servers",
    "Names, separated by commas: * stands for any text, ! before a name keeps it out. Empty admits all.",
  ],
  ["tools", "Tools", "As server.tool: git.*, *.read_*, !git.push."],
  ["toolsets", "Toolsets", "Which saved toolsets it may use."],
] as const;

const COUNTS = [["perMinute", "Calls a minute"], ["concurrent", "Calls at once"]] as const;

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
        <TextField
          id="token-name"
          label="Name"
          hint="Whose it is or what it is for."
          name="name"
          required
          title="Whose token it is, or what it is for"
          maxLength={80}
          autocomplete="off"
          value={fields.name}
          problem={page.nameProblem}
        />
        <Rights page={page} />
        {PATTERNS.map(([name, label, hint]) => (
          <NameField
            key={name}
            id={`token-${name}`}
            name={name}
            label={label}
            hint={hint}
            value={fields[name]}
            placeholder="*"
          />
        ))}
        <details
          class="edit-words"
          open={[fields.project, fields.perMinute, fields.concurrent, fields.mode]
            .some((text) => text !== "")}
        >
          <summary>Project and limits</summary>
          <div class="form">
            <SelectField
              id="token-project"
              label="Project"
              hint={projects.length === 0
                ? "There are no projects yet."
                : "The only one it can be used in."}
              name="project"
              choices={[["", "Any"], ...projects.map((name) => [name, name] as const)]}
              value={fields.project}
            />
            <SelectField
              id="token-mode"
              label="Calls it may make"
              hint="What a tool does is taken from its annotations, unless the server's entry says otherwise."
              name="mode"
              choices={MODES}
              value={fields.mode}
            />
            {COUNTS.map(([name, label]) => (
              <TextField
                key={name}
                id={`token-${name}`}
                label={label}
                hint="At most; empty for no limit."
                name={name}
                inputMode="numeric"
                value={fields[name]}
              />
            ))}
          </div>
        </details>
        <SelectField
          id="token-expires"
          label="Expires"
          name="expires"
          choices={DAYS}
          value={fields.expires}
        />
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
      {preview && <Preview preview={preview} />}
    </div>
  );
}

function Rights({ page: { fields, rights } }: { page: TokensPage }) {
  return (
    <fieldset class="rights">
      <legend>Rights</legend>
      {rights.map(({ right, meaning, isGrantable }) => (
        <label key={right} class="check right">
          <input
            type="checkbox"
            name="right"
            value={right}
            checked={fields.rights.includes(right)}
            disabled={!isGrantable}
          />
          <span>
            <span class="strong">{right}</span>{" "}
            <span class="muted">
              {meaning}
              {isGrantable ? "" : " (your own token does not have it)"}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
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
                    {tools.length > 0 && (
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
