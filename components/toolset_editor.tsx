import BusyForms from "../islands/busy_forms.tsx";
import ToolPicker from "../islands/tool_picker.tsx";
import type { ToolsetForm } from "../lib/console/toolset_form.ts";
import { NEW_TOOLSET, toolsetPath } from "../lib/console/ui/paths.ts";
import { Card } from "./card.tsx";
import { Field } from "./field.tsx";
import { Icon } from "./icon.tsx";
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
      {form.savedAt === undefined
        ? null
        : <input type="hidden" name="savedAt" value={form.savedAt} />}
      {from === undefined ? null : <input type="hidden" name="from" value={from} />}
      {error === undefined ? null : (
        <p class="notice tone-bad" role="alert">
          <Icon name="error" size={14} />
          <span>
            Not saved: {error.message}. {error.hint} <code>{error.code}</code>
          </span>
        </p>
      )}
      <Card>
        <div class="form form-wide">
          {editing === undefined && (
            <Field
              id="name"
              label="Name"
              hint="Letters, digits, _ and -; also a part of its door's address."
            >
              <input
                id="name"
                class="input mono"
                name="name"
                required
                maxLength={64}
                pattern="[A-Za-z0-9_\-]{1,64}"
                autocapitalize="off"
                autocomplete="off"
                spellcheck={false}
                value={form.name}
                aria-describedby="name-hint"
              />
            </Field>
          )}
          <Field id="description" label="Description">
            <input
              id="description"
              class="input"
              name="description"
              maxLength={500}
              value={form.description}
              placeholder="What it is for"
            />
          </Field>
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
