import type { ToolKnowledge } from "../lib/console/tool_page.ts";
import { toolPath } from "../lib/console/ui/paths.ts";
import { Card } from "./card.tsx";
import { CodeBlock } from "./code_block.tsx";
import { CopyButton } from "./copy_button.tsx";
import { Fact, Facts } from "./facts.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { CollisionWords } from "./name_collisions.tsx";
import { TokensChip } from "./tokens_chip.tsx";
import { ToolWordsForm } from "./tool_words_form.tsx";

/** What a tool is called, costs and belongs to. */
export function ToolFacts(
  { knowledge, action, refused }: Parameters<typeof ToolWordsForm>[0],
) {
  const { namespaced, flat, collision, category, summary, deprecated, said, tokens } = knowledge;
  return (
    <Card>
      {deprecated === undefined ? null : (
        <p class="notice tone-warn">
          <Icon name="alert" size={14} />
          <span>
            Deprecated: <InertText text={deprecated} />
          </span>
        </p>
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
          {said.summary !== undefined && <span class="badge">written here</span>}
        </Fact>
        <Fact name="Category">
          <a href={`/tools?${new URLSearchParams({ category })}`} aria-current="false">
            <InertText text={category} />
          </a>
          {said.category !== undefined && <span class="badge">set here</span>}
        </Fact>
        <Fact name="Cost">
          <TokensChip tokens={tokens} />
        </Fact>
      </Facts>
      {collision === undefined ? null : (
        <p class="notice tone-warn">
          <Icon name="alert" size={14} />
          <span>
            <CollisionWords collision={collision} />
          </span>
        </p>
      )}
      <ToolWordsForm knowledge={knowledge} action={action} refused={refused} />
    </Card>
  );
}

function Name({ text }: { text: string }) {
  return (
    <>
      <span class="mono">
        <InertText text={text} />
      </span>
      <CopyButton value={text} label={`Copy ${text}`} />
    </>
  );
}

/** Arguments it can be called with. */
export function ToolExamples({ examples }: Pick<ToolKnowledge, "examples">) {
  if (examples.length === 0) return null;
  return (
    <Card title="Examples" aside="arguments that fit its schema">
      <div class="examples">
        {examples.map(({ description, json }) => (
          <div key={description + json}>
            <p class="muted small">
              <InertText text={description} />
            </p>
            <CodeBlock code={json} label={`arguments: ${description}`} />
          </div>
        ))}
      </div>
    </Card>
  );
}

/** Tools that go with it. */
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
