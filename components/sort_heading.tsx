import { withQuery } from "../lib/console/paging.ts";
import { nextSorting, type Sorting } from "../lib/console/sorting.ts";
import { Icon } from "./icon.tsx";

interface SortHeadingProps<Column extends string> {
  column: Column;
  label: string;
  sorting: Sorting<Column>;
  url: URL;
  class?: string;
}

/** A column's heading that sorts by it; the order is in the address. */
export function SortHeading<Column extends string>(props: SortHeadingProps<Column>) {
  const { column, label, sorting, url } = props;
  const isSorted = sorting.column === column;
  const order = !isSorted ? undefined : sorting.descending ? "descending" : "ascending";
  const href = withQuery(url, { ...nextSorting(sorting, column), page: undefined });
  return (
    <th scope="col" class={props.class} aria-sort={order}>
      <a class="sort" href={href} aria-current="false">
        {label}
        {isSorted && <Icon name={sorting.descending ? "chevronDown" : "chevronUp"} size={12} />}
      </a>
    </th>
  );
}
