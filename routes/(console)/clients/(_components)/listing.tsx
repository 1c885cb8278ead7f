import { TokensChip } from "../../../../components/badges.tsx";
import { Table } from "../../../../components/tables.tsx";
import { InertText } from "../../../../components/text.tsx";
import { formatCount, formatNumber, inertString } from "../../../../lib/console/ui/format.ts";
import { serverPath } from "../../../../lib/console/ui/pages.ts";
import type { ListedClient } from "../../../../lib/operations/clients.ts";

type Listing = NonNullable<ListedClient["listing"]>;

const WIDTH = 400;
const SHADES = 4;

function nameOf({ server }: Listing["parts"][number]): string {
  return server ?? "Quartermaster";
}

/** The gateway's own tools are gray; servers take turns in shades of one color. */
function shadeOf({ server }: Listing["parts"][number], index: number): string {
  return server === undefined ? "listed-own" : `listed-${index % SHADES}`;
}

/** What a model is listed, by server, drawn to one scale; the table says the same. */
export function ListingBar({ listing, whole }: { listing: Listing; whole: number }) {
  let x = 0;
  return (
    <svg class="listing-bar" viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden>
      <rect class="bar-track" width={WIDTH} height="10" />
      {listing.parts.map((part, index) => {
        const width = part.tokens / whole * WIDTH;
        const start = x;
        x += width;
        return (
          <rect
            key={nameOf(part)}
            class={shadeOf(part, index)}
            x={start}
            width={Math.max(0.5, width - 1)}
            height="10"
          >
            <title>{`${inertString(nameOf(part))}: ${formatNumber(part.tokens)} tokens`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

export function ListingTable({ listing }: { listing: Listing }) {
  return (
    <Table
      caption="Tools listed to the model, by server"
      class="listing-table"
      columns={["From", ["Tools", "number"], ["Tokens", "number"], ["Share", "number"]]}
    >
      {listing.parts.map((part, index) => (
        <tr key={nameOf(part)}>
          <td class="cut">
            <svg class="swatch" width="10" height="10" aria-hidden="true">
              <rect class={shadeOf(part, index)} width="10" height="10" />
            </svg>
            {part.server === undefined
              ? "Quartermaster’s own tools"
              : (
                <a class="mono" href={serverPath(part.server)}>
                  <InertText text={part.server} />
                </a>
              )}
          </td>
          <td class="number">{formatNumber(part.tools)}</td>
          <td class="number">{formatNumber(part.tokens)}</td>
          <td class="number">{Math.round(part.tokens / Math.max(1, listing.tokens) * 100)} %</td>
        </tr>
      ))}
    </Table>
  );
}

/** How many tools, against the client's limit, and what they cost. */
export function ListingText({ listing: { tools, tokens, limit } }: { listing: Listing }) {
  return (
    <span class="listing-text">
      <span class={limit !== undefined && tools > limit ? "tone-warn strong" : undefined}>
        {limit === undefined
          ? formatCount(tools, "tool")
          : `${formatNumber(tools)} of ${formatNumber(limit)} tools`}
      </span>{" "}
      <TokensChip tokens={tokens} />
    </span>
  );
}
