import BusyForms from "../islands/busy_forms.tsx";
import ToolPicker from "../islands/tool_picker.tsx";
import type { ToolsetForm } from "../lib/console/toolset_form.ts";
import { NEW_TOOLSET, toolsetPath } from "../lib/console/ui/paths.ts";
import { Card } from "./card.tsx";
import { Field } from "./field.tsx";
import { DescriptionField, NameField, PLAIN_NAME } from "./name_field.tsx";
import { Notice } from "./notice.tsx";
import { PageHeader } from "./page_header.tsx";

/** Makes a toolset, or changes one. */
export function ToolsetEditor({ form }: { form: ToolsetForm }) {
  const { editing, from, error } = form;
  return (
    <form
      class="stack"
      method="post"
      action={editing === undefined ? NEW_TOOLSET : `${toolsetPath(editing)}/edit`}
      f-client-nav={false}
      data-busy="Saving…"
    >
      <BusyForms />
      <PageHeader
        title={editing === undefined ? "New toolset" : (
          <>
            Edit <span class="mono">{editing}</span>
          </>
        )}
        {...(editing !== undefined
          ? { lead: "Saving takes each tool as it is now" }
          : from !== undefined
          ? { lead: `A copy of ${from}, which stays as it is` }
          : {})}
        action={<button type="submit" class="button button-primary">Save toolset</button>}
      />
      {form.version === undefined
        ? null
        : <input type="hidden" name="version" value={form.version} />}
      {from === undefined ? null : <input type="hidden" name="from" value={from} />}
      {error === undefined ? null : (
        <Notice tone="bad">
          Not saved: {error.message}. {error.hint} <code>{error.code}</code>
        </Notice>
      )}
      <Card>
        <div class="form form-wide">
          {editing === undefined && (
            <NameField
              id="name"
              name="name"
              label="Name"
              hint="Letters, digits, _ and -; also a part of its door's address."
              value={form.name}
              pattern={PLAIN_NAME}
              title="1 to 64 letters, digits, _ or -"
              maxLength={64}
              isRequired
            />
          )}
          <DescriptionField id="description" value={form.description} maxLength={500} />
        </div>
      </Card>
      <Card>
        <ToolPicker
          chosen={form.chosen}
          picks={form.picks}
          servers={form.servers}
          categories={form.categories}
        />
        <noscript>
          <Field
            id="more"
            label="More tools, each on a line"
            hint="A name, a pattern such as git.* or *read*, or category:files for all of one."
          >
            <textarea
              id="more"
              class="input mono"
              name="more"
              rows={4}
              aria-describedby="more-hint"
            />
          </Field>
        </noscript>
      </Card>
    </form>
  );
}
