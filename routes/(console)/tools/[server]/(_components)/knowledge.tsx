import { Card, Fact, Facts } from "../../../../../components/layout.tsx";
import { CodeBlock, CopyButton, InertText } from "../../../../../components/text.tsx";
import { FormFailure, PostForm, TextField } from "../../../../../components/forms.tsx";
import { Notice } from "../../../../../components/states.tsx";
import { TokensChip } from "../../../../../components/badges.tsx";
import { toolPath } from "../../../../../lib/console/ui/pages.ts";
import { CollisionText } from "../../(_components)/notices.tsx";
import type { RefusedOverride, ToolKnowledge } from "../(_page)/model.ts";

export function ToolFacts({ knowledge, action, refused }: OverrideFormProps) {
  const { namespaced, flat, collision, category, summary, deprecated, override, tokens } =
    knowledge;
  return (
    <Card>
      {deprecated !== undefined && (
        <Notice tone="warn">
          Deprecated: <InertText text={deprecated} />
        </Notice>
      )}
      <Facts>
        <Fact name="Full name">
          <Name text={namespaced} />
        </Fact>
        <Fact name="Flat name">
          <Name text={flat} />
        </Fact>
        <Fact name="Summary">
          <span>
            {summary === "" ? "None" : <InertText text={summary} />}
          </span>
          {override.summary !== undefined && <span class="badge">written here</span>}
        </Fact>
        <Fact name="Category">
          <a href={`/tools?${new URLSearchParams({ category })}`} aria-current="false">
            <InertText text={category} />
          </a>
          {override.category !== undefined && <span class="badge">set here</span>}
        </Fact>
        <Fact name="Cost">
          <TokensChip tokens={tokens} />
        </Fact>
      </Facts>
      {collision && (
        <Notice tone="warn">
          <CollisionText collision={collision} />
        </Notice>
      )}
      <OverrideForm knowledge={knowledge} action={action} refused={refused} />
    </Card>
  );
}

function Name({ text }: { text: string }) {
  return (
    <>
      <InertText as="span" class="mono" text={text} />
      <CopyButton value={text} label={`Copy ${text}`} />
    </>
  );
}

export function ToolExamples({ examples }: Pick<ToolKnowledge, "examples">) {
  if (examples.length === 0) return null;
  return (
    <Card title="Examples" aside="arguments that fit its schema">
      <div class="examples">
        {examples.map(({ description, json }) => (
          <div key={description + json}>
            <InertText as="p" class="muted small" text={description} />
            <CodeBlock code={json} label={`arguments: ${description}`} />
          </div>
        ))}
      </div>
    </Card>
  );
}

export function RelatedTools({ related }: Pick<ToolKnowledge, "related">) {
  if (related.length === 0) return null;
  return (
    <Card title="Related tools">
      <p class="chips">
        {related.map(({ server, name, namespaced }) => (
          <a key={namespaced} class="button mono cut" href={toolPath(server, name)}>
            <InertText text={namespaced} />
          </a>
        ))}
      </p>
    </Card>
  );
}

interface OverrideFormProps {
  knowledge: ToolKnowledge;
  action: string;
  refused?: RefusedOverride | undefined;
}

function OverrideForm({ knowledge, action, refused }: OverrideFormProps) {
  const { override, summary, category } = knowledge;
  const shown = refused?.written ?? override;
  return (
    <details class="edit-words" open={refused !== undefined}>
      <summary>Change summary and category</summary>
      <PostForm class="form" action={action}>
        {refused && <FormFailure error={refused.error} />}
        <TextField
          id="summary"
          label="Summary"
          hint="One line, up to 80 characters. Leave empty to derive it from the description."
          maxLength={80}
          value={shown.summary ?? ""}
          placeholder={override.summary === undefined ? summary : ""}
        />
        <TextField
          id="category"
          class="input mono"
          label="Category"
          hint="Letters, digits, _ and -. Leave empty to derive it from the tool."
          maxLength={40}
          pattern="[A-Za-z0-9_\-]{1,40}"
          autocapitalize="off"
          spellcheck={false}
          value={shown.category ?? ""}
          placeholder={override.category === undefined ? category : ""}
        />
        <TextField
          id="deprecated"
          label="Deprecated"
          hint="Leave empty if it is not deprecated."
          maxLength={300}
          value={shown.deprecated ?? ""}
          placeholder="Why not to use it, and what to use instead"
        />
        <div class="form-actions">
          <button type="submit" class="button button-primary">Save</button>
          {Object.keys(override).length > 0 && (
            <button type="submit" class="button" name="reset" value="true">
              Reset to inferred values
            </button>
          )}
        </div>
      </PostForm>
    </details>
  );
}
