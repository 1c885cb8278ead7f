import { type ComponentChildren, isValidElement, type VNode } from "preact";
import { nextSorting, type Paged, type Sorting, withQuery } from "../lib/console/lists.ts";
import { formatNumber } from "../lib/console/ui/format.ts";
import { Icon } from "./icon.tsx";

/** A heading of its own, a label, or a label with its class and what it shows on hover. */
type Column = VNode | string | readonly [label: string, className: string, title?: string];

interface TableProps {
  /** Read aloud only. */
  caption: string;
  class?: string;
  columns: readonly Column[];
  /** The rows. */
  children: ComponentChildren;
}

export function Table({ caption, class: name, columns, children }: TableProps) {
  return (
    <table class={name === undefined ? "table" : `table ${name}`}>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => {
            if (isValidElement(column)) return column;
            const [label, name, title] = typeof column === "string" ? [column] : column;
            return <th key={label} scope="col" class={name} title={title}>{label}</th>;
          })}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

interface DataTableProps<Row> extends Omit<TableProps, "columns" | "children"> {
  rows: readonly Row[];
  keyOf(row: Row): string;
  columns: {
    head: string;
    /** The heading is only read aloud. */
    isQuiet?: boolean;
    class?: string;
    cell(row: Row): ComponentChildren;
  }[];
}

/** Rows of text; on a phone each row is a block, with the heading before each value. */
export function DataTable<Row>(
  { rows, keyOf, columns, class: name = "", ...table }: DataTableProps<Row>,
) {
  const heads = columns.map(({ head, isQuiet, class: name = "" }) =>
    isQuiet ? <HiddenHeading key={head} label={head} class={name} /> : [head, name] as const
  );
  return (
    <Table {...table} class={`is-text is-stacked ${name}`} columns={heads}>
      {rows.map((row) => (
        <tr key={keyOf(row)}>
          {columns.map(({ head, isQuiet, class: name, cell }) => (
            <td key={head} class={name} data-label={isQuiet ? undefined : head}>{cell(row)}</td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

/** A column without a visible heading. */
export function HiddenHeading({ label, class: name }: { label: string; class?: string }) {
  return (
    <th scope="col" class={name}>
      <span class="visually-hidden">{label}</span>
    </th>
  );
}

/** Where in a long list the reader is, and the way on. */
export function Pager(
  { list, url, noun, param = "page" }: {
    list: Paged<unknown>;
    url: URL;
    noun: string;
    /** The page's key in the URL. */
    param?: string;
  },
) {
  if (list.pages === 1) return null;
  const to = (page: number) => withQuery(url, { [param]: page === 1 ? undefined : String(page) });
  return (
    <nav class="pager" aria-label="Pages">
      <p>
        {formatNumber(list.first)}–{formatNumber(list.last)} of {formatNumber(list.total)} {noun}
      </p>
      <div class="pager-links">
        <PageLink href={list.page > 1 ? to(list.page - 1) : undefined} rel="prev">
          <Icon name="chevronLeft" size={14} />
          Previous
        </PageLink>
        <PageLink href={list.page < list.pages ? to(list.page + 1) : undefined} rel="next">
          Next
          <Icon name="chevronRight" size={14} />
        </PageLink>
      </div>
    </nav>
  );
}

function PageLink(
  { href, rel, children }: {
    href: string | undefined;
    rel: string;
    children: ComponentChildren;
  },
) {
  if (href === undefined) return <span class="button is-off" aria-disabled="true">{children}</span>;
  return <a class="button" href={href} rel={rel}>{children}</a>;
}

interface SortHeadingProps<Column extends string> {
  column: Column;
  label: string;
  sorting: Sorting<Column>;
  url: URL;
  class?: string;
  /** The largest first, as long as nobody asks for the other order. */
  isLargestFirst?: boolean;
}

/** A column's heading that sorts by it; the order is in the address. */
export function SortHeading<Column extends string>(props: SortHeadingProps<Column>) {
  const { column, label, sorting, url } = props;
  const isSorted = sorting.column === column;
  const order = !isSorted ? undefined : sorting.descending ? "descending" : "ascending";
  const href = withQuery(url, {
    ...nextSorting(sorting, column, props.isLargestFirst),
    page: undefined,
  });
  return (
    <th scope="col" class={props.class} aria-sort={order}>
      <a class="sort" href={href} aria-current="false">
        {label}
        {isSorted && <Icon name={sorting.descending ? "chevronDown" : "chevronUp"} size={12} />}
      </a>
    </th>
  );
}
