import type { Parameter, Parameters } from "../lib/console/parameters.ts";
import { InertText } from "./inert_text.tsx";

/** A schema as a person reads it: one parameter a row. */
export function ParametersTable(
  { parameters, caption }: { parameters: Parameters; caption: string },
) {
  return (
    <>
      <table class="table params-table is-text">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col" class="col-param">Name</th>
            <th scope="col" class="col-param-type">Type</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          {parameters.rows.map((row) => <ParameterRow key={row.path} row={row} />)}
        </tbody>
      </table>
      {parameters.isCut && (
        <p class="table-note muted">There are more; the schema below has them all.</p>
      )}
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
      <td class="mono param-type">
        <InertText text={row.type} />
      </td>
      <td>
        {row.description === undefined ? null : (
          <p class="prose">
            <InertText text={row.description} />
          </p>
        )}
        {row.choices === undefined ? null : (
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
            {row.limits === undefined ? null : (
              <span>
                <InertText text={row.limits} />
              </span>
            )}
            {row.limits !== undefined && row.defaultValue !== undefined ? " · " : null}
            {row.defaultValue === undefined ? null : (
              <span>
                default{" "}
                <code>
                  <InertText text={row.defaultValue} />
                </code>
              </span>
            )}
          </p>
        )}
      </td>
    </tr>
  );
}
