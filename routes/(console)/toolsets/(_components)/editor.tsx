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
          ? { lead: "Saving pins the current version of each tool" }
          : from !== undefined
          ? { lead: `A copy of ${from}, which is not changed` }
          : {})}
        action={<button type="submit" class="button button-primary">Save toolset</button>}
      />
      {error && <FormFailure error={error} title="The toolset was not saved" />}
      <Card>
        <div class="form form-wide">
          {editing === undefined && (
            <NameField
              id="name"
              name="name"
              label="Name"
              hint="Letters, digits, _ and -. Used in the endpoint's URL."
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
            label="More tools, one per line"
            hint="A name, a pattern such as git.* or *read*, or a category such as category:files."
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
