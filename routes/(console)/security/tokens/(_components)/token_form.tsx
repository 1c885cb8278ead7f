import type { TokenPreview } from "../(_page)/form.ts";
import type { TokensPage } from "../(_page)/model.ts";
import { formatCount } from "../../../../../lib/console/ui/format.ts";
import type { Operation } from "../../../../../lib/operations/operation.ts";
import { Card } from "../../../../../components/layout.tsx";
import { FormCard } from "../../../../../components/forms.tsx";
import { OperationFields } from "../../../../../components/operation_form.tsx";
import { Listed } from "../../../../../components/text.tsx";

const PATH = "/security/tokens";

const DAYS = [
  ["", "Never"],
  ["1d", "After a day"],
  ["7d", "After a week"],
  ["30d", "After 30 days"],
  ["90d", "After 90 days"],
  ["365d", "After a year"],
] as const;

const MODES = [
  ["", "All"],
  ["confirm", "Calls that may change or delete things need approval"],
  ["read-only", "Read-only calls"],
] as const;

/** A list to check, not to read through. */
const SERVERS = 20;

interface TokenFormProps {
  page: TokensPage;
  /** Creates a token; its schema describes the fields. */
  operation: Operation;
}

/** Creates a token; what it would admit can be looked at first. */
export function TokenForm({ page, operation }: TokenFormProps) {
  const { fields: { rights: _, ...values }, names, preview, nameProblem } = page;
  const pattern = (list: keyof typeof names, hint: string) => ({
    isName: true,
    required: false,
    placeholder: "*",
    list: `token-${list}-known`,
    hint,
  });
  const shared = { id: "token", operation, values };
  return (
    <>
      <FormCard
        id="new-token"
        title="New token"
        action={PATH}
        busy="Creating…"
        fields={{ filled: "yes" }}
      >
        <div class="form-pairs">
          <OperationFields
            {...shared}
            problems={nameProblem === undefined ? undefined : { name: nameProblem }}
            fields={{ name: { autocomplete: "off" }, expires: { labels: DAYS, hint: undefined } }}
          />
        </div>
        <Rights page={page} />
        <div class="form-pairs">
          <OperationFields
            {...shared}
            fields={{
              servers: pattern(
                "servers",
                "Default: all. Separate names with commas; * matches any text, ! excludes.",
              ),
              tools: pattern("tools", "As server.tool: git.*, *.read_*, !git.push."),
            }}
          />
        </div>
        {Object.entries(names).map(([field, known]) => (
          <datalist key={field} id={`token-${field}-known`}>
            {known.map((name) => <option key={name} value={name} />)}
          </datalist>
        ))}
        <details
          class="edit-words"
          open={[values.toolsets, values.project, values.perMinute, values.concurrent, values.mode]
            .some((text) => text !== "")}
        >
          <summary>Toolsets, project and limits</summary>
          <div class="form-pairs">
            <OperationFields
              {...shared}
              fields={{
                toolsets: pattern("toolsets", "Saved toolsets the token can use."),
                project: {
                  labels: [["", "Any"], ...page.projects.map((name) => [name, name] as const)],
                  hint: page.projects.length === 0
                    ? "There are no projects yet."
                    : "The token works only in this project.",
                },
                mode: {
                  labels: MODES,
                  label: "Allowed calls",
                  hint: "From the tool's annotations, unless the server's entry says otherwise.",
                },
                perMinute: {
                  label: "Calls per minute",
                  inputMode: "numeric",
                  hint: "Leave empty for no limit.",
                },
                concurrent: {
                  label: "Concurrent calls",
                  inputMode: "numeric",
                  hint: "Leave empty for no limit.",
                },
              }}
            />
          </div>
        </details>
        <div class="form-actions">
          <button type="submit" class="button button-primary" name="change" value="create">
            Create token
          </button>
          <button
            type="submit"
            class="button"
            formnovalidate
            formmethod="get"
            formaction={`${PATH}#admits`}
          >
            Preview access
          </button>
        </div>
      </FormCard>
      {preview && <Preview preview={preview} />}
    </>
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
              {isGrantable ? "" : " (your own token does not have this right)"}
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
      <Card title="Access" aside={formatCount(tools, "tool")}>
        <div class="stack">
          {servers.length === 0 && <p class="muted">No servers, so no tools.</p>}
          <ul class="admits">
            {servers.slice(0, SERVERS).map(({ name, admitted, all, tools, more }) => (
              <li key={name}>
                <details open={servers.length === 1}>
                  <summary>
                    <span class="mono strong">{name}</span>{" "}
                    <span class="muted small">
                      {all === 0 ? "no tools yet" : `${admitted} of ${formatCount(all, "tool")}`}
                    </span>
                  </summary>
                  <p class="small muted">
                    <Listed texts={tools} />
                    {more > 0 ? ` and ${more} more` : ""}
                  </p>
                </details>
              </li>
            ))}
            {servers.length > SERVERS && (
              <li class="muted">and {formatCount(servers.length - SERVERS, "more server")}</li>
            )}
          </ul>
          <p class="small muted">
            {toolsets.length === 0
              ? "No saved toolsets."
              : `Toolsets: ${toolsets.slice(0, 20).join(", ")}${toolsets.length > 20 ? " …" : ""}`}
          </p>
        </div>
      </Card>
    </div>
  );
}
