import type { ComponentChildren } from "preact";
import { Ago, InertText, ParameterDiffs, WordDiff } from "../../../../../components/text.tsx";
import { Card } from "../../../../../components/layout.tsx";
import { Notice } from "../../../../../components/states.tsx";
import { Table } from "../../../../../components/tables.tsx";
import { formatCount } from "../../../../../lib/console/ui/format.ts";
import { optimizationPath } from "../../../../../lib/console/ui/pages.ts";
import type { Parameter, Parameters } from "../../../../../lib/core/parameters.ts";
import type { ToolPromotion } from "../(_page)/model.ts";

/** A schema as a person reads it: one parameter a row. */
export function ParametersTable(
  { parameters, caption }: { parameters: Parameters; caption: string },
) {
  return (
    <>
      <Table
        caption={caption}
        class="params-table is-text is-stacked"
        columns={[["Name", "col-param"], ["Type", "col-param-type"], "Meaning"]}
      >
        {parameters.rows.map((row) => <ParameterRow key={row.path} row={row} />)}
      </Table>
      {parameters.isCut && <p class="table-note muted">More parameters are in the schema below.</p>}
    </>
  );
}

function ParameterRow({ row }: { row: Parameter }) {
  return (
    <tr>
      <td>
        <span class={`mono strong indent-${row.depth}`}>
          <InertText text={row.path} />
        </span>
        {row.isRequired && <span class="required">required</span>}
      </td>
      <InertText as="td" class="mono param-type" text={row.type} />
      <td>
        {row.description !== undefined && <InertText as="p" class="prose" text={row.description} />}
        {row.choices && (
          <p class="chips">
            {row.choices.map((choice) => (
              <code key={choice} class="chip">
                <InertText text={choice} />
              </code>
            ))}
          </p>
        )}
        {(row.limits !== undefined || row.defaultValue !== undefined) && (
          <p class="small muted">
            {row.limits !== undefined && <InertText as="span" text={row.limits} />}
            {row.limits !== undefined && row.defaultValue !== undefined && " · "}
            {row.defaultValue !== undefined && (
              <span>
                default <InertText as="code" text={row.defaultValue} />
              </span>
            )}
          </p>
        )}
      </td>
    </tr>
  );
}

interface PromotedDescriptionProps {
  server: string;
  tool: string;
  promotion: ToolPromotion;
  aside: ComponentChildren;
}

export function PromotedDescription(
  { server, tool, promotion, aside }: PromotedDescriptionProps,
) {
  const { canonical, promoted, promotedAt, by, isStale } = promotion;
  return (
    <Card title="Description" aside={aside}>
      {isStale && (
        <Notice tone="warn">
          The server has changed its own description since the promotion. Check whether the promoted
          one still fits.
        </Notice>
      )}
      <div class="described">
        <section>
          <h3>
            The server's own <span>{formatCount(canonical.length, "character")}</span>
          </h3>
          {canonical === ""
            ? <p class="muted">The server provides none.</p>
            : <InertText as="p" class="prose" text={canonical} />}
        </section>
        <section>
          <h3>
            <span class="badge tone-ok">Promoted</span> What clients read{" "}
            <span>{formatCount(promoted.length, "character")}</span>
          </h3>
          <InertText as="p" class="prose" text={promoted} />
        </section>
      </div>
      <details class="edit-words">
        <summary>Compare word by word</summary>
        <WordDiff segments={promotion.diff} />
      </details>
      <ParameterDiffs diffs={promotion.parameterDiffs} />
      <p class="described-foot">
        <span class="muted">
          Promoted by {by} <Ago at={promotedAt} />
        </span>
        <a href={optimizationPath(server, tool)}>Results, history and revert</a>
      </p>
    </Card>
  );
}
