import type { ImportPage } from "../(_page)/exchange.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { IMPORT_TOOLSETS, toolsetPath } from "../../../../lib/console/ui/pages.ts";
import { Card, PageHeader } from "../../../../components/layout.tsx";
import { Field, FormFailure, PostForm } from "../../../../components/forms.tsx";
import { StateLabel } from "../../../../components/badges.tsx";
import { InertText } from "../../../../components/text.tsx";

const EXAMPLE = '{ "name": "dev", "tools": [{ "namespacedName": "git.status" }] }';

export function ImportForm({ text, isMain = false }: { text: string; isMain?: boolean }) {
  return (
    <PostForm class="form form-wide" action={IMPORT_TOOLSETS} encType="multipart/form-data">
      <Field id="import-file" label="File">
        <input
          id="import-file"
          class="input"
          type="file"
          name="file"
          accept="application/json,.json"
        />
      </Field>
      <Field id="import-text" label="Or paste text">
        <textarea
          id="import-text"
          class="input mono"
          name="text"
          rows={6}
          spellcheck={false}
          placeholder={EXAMPLE}
        >
          {text}
        </textarea>
      </Field>
      <label class="check-field">
        <input type="checkbox" name="replace" value="true" />
        Overwrite toolsets with the same name
      </label>
      <div class="form-actions">
        <button type="submit" class={isMain ? "button button-primary" : "button"}>
          Import toolsets
        </button>
      </div>
    </PostForm>
  );
}

export function ToolsetsImport({ page }: { page: ImportPage }) {
  const { report, error } = page;
  return (
    <div class="stack">
      <PageHeader
        title="Import toolsets"
        {...(report === undefined
          ? {}
          : { lead: `${formatCount(report.saved.length, "toolset")} saved` })}
        action={<a class="button" href="/toolsets" aria-current="false">All toolsets</a>}
      />
      {error && <FormFailure error={error} title="Nothing was imported" />}
      {report ? <Report report={report} /> : (
        <Card>
          <ImportForm text={page.text} isMain />
        </Card>
      )}
    </div>
  );
}

function Report({ report }: { report: NonNullable<ImportPage["report"]> }) {
  return (
    <Card title="Result" isFlush>
      <ul class="rows">
        {report.toolsets.map(({ name, wasNamed, toolCount, unmatched, problem }) => (
          <li key={name} class="row">
            {problem === undefined
              ? <StateLabel tone="ok" icon="ready">Saved</StateLabel>
              : <StateLabel tone="bad" icon="error">Not saved</StateLabel>}
            <div class="row-text">
              <p>
                {problem === undefined
                  ? <a class="mono" href={toolsetPath(name)}>{name}</a>
                  : <span class="mono">{name}</span>}{" "}
                <span class="muted">{formatCount(toolCount, "tool")}</span>
                {wasNamed !== undefined && (
                  <span class="muted">
                    , previously <InertText text={wasNamed} />
                  </span>
                )}
              </p>
              {problem !== undefined && <InertText as="p" text={problem} />}
              {unmatched.length > 0 && (
                <ul class="change-reasons">
                  {unmatched.map(({ written, reason, nearest }) => (
                    <li key={written}>
                      <InertText text={reason} />
                      {nearest.length > 0 && `. Nearest: ${nearest.join(", ")}`}
                    </li>
                  ))}
                </ul>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
