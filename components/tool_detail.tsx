import TryTool from "../islands/try_tool.tsx";
import type { Parameters } from "../lib/console/parameters.ts";
import type { ToolPage } from "../lib/console/tool_page.ts";
import type { RefusedWords } from "../lib/console/tool_words.ts";
import type { TriedTool } from "../lib/console/ui/try_outcome.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { serverPath, toolPath } from "../lib/console/ui/paths.ts";
import { Card } from "./card.tsx";
import { CodeBlock } from "./code_block.tsx";
import { CopyButton } from "./copy_button.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { PageHeader } from "./page_header.tsx";
import { ParametersTable } from "./parameters_table.tsx";
import { SideList } from "./side_list.tsx";
import { StateIcon } from "./state_badge.tsx";
import { ToolVersions } from "./tool_history.tsx";
import { ToolPromotion } from "./tool_promotion.tsx";
import { RelatedTools, ToolExamples, ToolFacts } from "./tool_knowledge.tsx";

interface ToolDetailProps {
  page: ToolPage;
  tried?: TriedTool | undefined;
  refused?: RefusedWords | undefined;
}

/** One tool: what it says it does, and what it takes. */
export function ToolDetail({ page, tried, refused }: ToolDetailProps) {
  const fullName = `${page.server.name}.${page.name}`;
  const { knowledge } = page;
  return (
    <div class="split">
      <SideList
        title={`Tools of ${page.server.name}`}
        total={page.total}
        allHref={`/tools?${new URLSearchParams({ server: page.server.name })}`}
        current={page.name}
        entries={page.neighbors.map(({ server, name }) => ({ name, href: toolPath(server, name) }))}
      />
      <article class="detail">
        <PageHeader
          title={
            <span class="title-name">
              <span class="mono">
                <InertText text={page.name} />
              </span>
              <CopyButton value={fullName} label={`Copy ${fullName}`} />
            </span>
          }
          lead={
            <span class="meta">
              {page.title === undefined ? null : (
                <span>
                  <InertText text={page.title} />
                </span>
              )}
              <a class="mono meta-server" href={serverPath(page.server.name)}>
                <StateIcon state={page.server.state} />
                <InertText text={page.server.name} />
              </a>
              {knowledge?.deprecated === undefined
                ? null
                : <span class="badge tone-warn">Deprecated</span>}
              {page.isHeld && (
                <span
                  class="badge tone-warn"
                  title="Its server has changed it: clients get the version before that"
                >
                  Held
                </span>
              )}
              {knowledge?.isEnabled === false && (
                <span class="badge" title="It is switched off: no client can call it">Off</span>
              )}
            </span>
          }
        />
        <Description page={page} />
        {knowledge === undefined ? null : (
          <ToolFacts
            knowledge={knowledge}
            action={toolPath(page.server.name, page.name)}
            refused={refused}
          />
        )}
        <Card title="Try it" aside="a real call, on the record like any other">
          <TryTool
            key={fullName}
            server={page.server.name}
            tool={page.name}
            form={page.tryIt}
            isOff={knowledge?.isEnabled === false}
            {...(tried === undefined ? {} : { tried })}
          />
        </Card>
        <SchemaCard title="Parameters" parameters={page.input} json={page.inputJson} />
        {page.output === undefined || page.outputJson === undefined
          ? null
          : <SchemaCard title="Result" parameters={page.output} json={page.outputJson} />}
        {knowledge === undefined ? null : (
          <>
            <ToolExamples examples={knowledge.examples} />
            <RelatedTools related={knowledge.related} />
          </>
        )}
        <ToolVersions
          versions={page.versions}
          older={page.olderVersions}
          isHeld={page.isHeld}
        />
      </article>
    </div>
  );
}

function Description({ page }: { page: ToolPage }) {
  const hints = <Hints hints={page.hints} />;
  if (page.promotion !== undefined) {
    const { server, name, promotion } = page;
    return <ToolPromotion server={server.name} tool={name} promotion={promotion} aside={hints} />;
  }
  return (
    <Card title="Description" aside={hints}>
      {page.description === ""
        ? <p class="muted">The server gives no description for this tool.</p>
        : (
          <p class="prose">
            <InertText text={page.description} />
          </p>
        )}
    </Card>
  );
}

function Hints({ hints }: { hints: ToolPage["hints"] }) {
  return (
    <>
      {hints.map(({ label, meaning, isRisky }) => (
        <span
          key={label}
          class={isRisky ? "badge tone-warn" : "badge"}
          title={`${meaning}, says the server`}
        >
          {isRisky && <Icon name="alert" size={12} />}
          {label}
        </span>
      ))}
    </>
  );
}

function SchemaCard(
  { title, parameters, json }: { title: string; parameters: Parameters; json: string },
) {
  const count = parameters.rows.filter((row) => row.depth === 0).length;
  return (
    <Card title={title} aside={count === 0 ? "none" : formatCount(count, "field")} isFlush>
      {count === 0
        ? <p class="card-lead muted">Takes no named parameters.</p>
        : <ParametersTable parameters={parameters} caption={title} />}
      <details class="schema">
        <summary>Schema as the server sent it</summary>
        <CodeBlock code={json} label={`schema of ${title.toLowerCase()}`} />
      </details>
    </Card>
  );
}
