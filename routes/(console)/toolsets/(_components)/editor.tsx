import { BusyForms } from "../../../../islands/forms.tsx";
import { ToolPicker } from "../(_islands)/tool_picker.tsx";
import type { ToolsetForm } from "../(_page)/editor.ts";
import { NEW_TOOLSET, toolsetPath } from "../../../../lib/console/ui/pages.ts";
import { Card, PageHeader } from "../../../../components/layout.tsx";
import {
  DescriptionField,
  Field,
  FormFailure,
  NameField,
  PLAIN_NAME,
  PostForm,
} from "../../../../components/forms.tsx";

export function ToolsetEditor({ form }: { form: ToolsetForm }) {
  const { editing, version, from, error } = form;
  return (
    <PostForm
      class="stack"
      action={editing === undefined ? NEW_TOOLSET : `${toolsetPath(editing)}/edit`}
      busy="Saving…"
      fields={{
        ...(version === undefined ? {} : { version }),
        ...(from === undefined ? {} : { from }),
      }}
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
      {error && <FormFailure error={error} title="Not saved" />}
      <Card>
        <div class="form form-wide">
          {editing === undefined && (
            <NameField
              id="name"
              name="name"
              label="Name"
              hint="Letters, digits, _ and -; part of its endpoint's URL."
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
          builtins={form.builtins}
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
    </PostForm>
  );
}
