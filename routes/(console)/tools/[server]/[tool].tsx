import { page } from "fresh";
import { Card, PageHeader, SideList } from "../../../../components/layout.tsx";
import { CodeBlock, CopyButton, InertText } from "../../../../components/text.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { Missing } from "../../../../components/states.tsx";
import { StateIcon } from "../../../../components/server_state.tsx";
import { ToolVersions } from "../../../../components/tool_history.tsx";
import { define, formOf, type State } from "../../../../lib/console/define.ts";
import { formError, submitForm } from "../../../../lib/console/errors.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { pathParts, serverPath, toolPath } from "../../../../lib/console/ui/pages.ts";
import type { Parameters } from "../../../../lib/core/parameters.ts";
import { UnlistedTool, WithheldNotice } from "../(_components)/notices.tsx";
import { ParametersTable, PromotedDescription } from "./(_components)/definition.tsx";
import { RelatedTools, ToolExamples, ToolFacts } from "./(_components)/knowledge.tsx";
import type { TriedTool } from "./(_components)/try_result.tsx";
import { TryTool } from "./(_islands)/try_tool.tsx";
import {
  readOverride,
  type RefusedOverride,
  saveOverride,
  type ToolPage,
  toolPage,
} from "./(_page)/model.ts";
import { tryFromForm } from "./(_page)/try.ts";

interface ToolData {
  found: Awaited<ReturnType<typeof toolPage>>;
  server: string;
  /** What came of a call that was made without scripts. */
  tried?: TriedTool;
  /** An override that could not be saved. */
  refused?: RefusedOverride;
}

export const handler = define.handlers({ GET: ["read"], POST: ["manage"] }, {
  async GET(ctx) {
    const data = await toolData(ctx);
    return page(data, { status: "missing" in data.found ? 404 : 200 });
  },

  async POST(ctx) {
    const { gateway, principal } = ctx.state;
    const [server, tool] = namesIn(ctx.url);
    const form = await formOf(ctx);
    if (form.has("try")) {
      const { signal } = ctx.req;
      const tried = await tryFromForm(gateway, { server, tool, principal, signal }, form);
      return page(await toolData(ctx, { tried }));
    }
    return await submitForm(ctx, async () => {
      await saveOverride(gateway, server, tool, form);
      return toolPath(server, tool);
    }, (error) => {
      return toolData(ctx, { refused: { written: readOverride(form), error: formError(error) } });
    });
  },
});

function namesIn(url: URL): [server: string, tool: string] {
  const [, server = "", tool = ""] = pathParts(url.pathname) ?? [];
  return [server, tool];
}

async function toolData(
  { url, state }: { url: URL; state: State },
  outcome: Pick<ToolData, "tried" | "refused"> = {},
): Promise<ToolData> {
  const [server, tool] = namesIn(url);
  const found = await toolPage(state.gateway, server, tool, state.principal);
  state.title = "missing" in found ? "Tool not found" : tool;
  return { found, server, ...outcome };
}

export default define.page<typeof handler>(function ToolRoute({ data, state }) {
  const { found, server, tried, refused } = data;
  if ("missing" in found) {
    return (
      <Missing
        what="tool"
        name={found.missing}
        nearest={found.nearest.map((name) => ({ name, href: toolPath(server, name) }))}
        code="TOOL_NOT_FOUND"
        id={state.requestId}
        listHref="/tools"
      />
    );
  }
  return (
    <div data-live="servers tools">
      {"unlisted" in found
        ? <UnlistedTool server={found.server} tool={found.unlisted} />
        : "withheld" in found
        ? <WithheldNotice page={found} />
        : <ToolDetail page={found} tried={tried} refused={refused} />}
    </div>
  );
});

/** One tool: what it says it does, and what it takes. */
function ToolDetail({ page, tried, refused }: ToolDetailProps) {
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
              <InertText as="span" class="mono" text={page.name} />
              <CopyButton value={fullName} label={`Copy ${fullName}`} />
            </span>
          }
          lead={
            <span class="meta">
              {page.title === undefined ? null : <InertText as="span" text={page.title} />}
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
                  title="Its server changed it; clients still get the previous version"
                >
                  Held
                </span>
              )}
              {knowledge?.isEnabled === false && (
                <span class="badge" title="This tool is off; clients cannot call it">Off</span>
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
        <Card title="Try it" aside="this is a real call, and it is logged">
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

interface ToolDetailProps {
  page: ToolPage;
  tried?: TriedTool | undefined;
  refused?: RefusedOverride | undefined;
}

function Description({ page }: { page: ToolPage }) {
  const hints = <Hints hints={page.hints} />;
  if (page.promotion !== undefined) {
    const { server, name, promotion } = page;
    return (
      <PromotedDescription server={server.name} tool={name} promotion={promotion} aside={hints} />
    );
  }
  return (
    <Card title="Description" aside={hints}>
      {page.description === ""
        ? <p class="muted">The server gives no description for this tool.</p>
        : <InertText as="p" class="prose" text={page.description} />}
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
          title={`${meaning}, according to the server`}
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
