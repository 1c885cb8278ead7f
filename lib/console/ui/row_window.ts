export interface RowWindow {
  /** Of the first row that is drawn. */
  first: number;
  /** One past the last. */
  end: number;
}

/** More than one screen of rows is never drawn, with some on either side for quick scrolling. */
const SPARE_ROWS = 20;
const MOST_ROWS = 160;

/** Which of many rows of one height are drawn. */
export function rowWindow(
  { top, height, rowHeight, count }: {
    /** How far the list is scrolled. */
    top: number;
    height: number;
    rowHeight: number;
    count: number;
  },
): RowWindow {
  const seen = Math.min(MOST_ROWS - 2 * SPARE_ROWS, Math.ceil(height / rowHeight) + 1);
  const at = Math.min(Math.max(0, Math.floor(top / rowHeight)), Math.max(0, count - seen));
  return {
    first: Math.max(0, at - SPARE_ROWS),
    end: Math.min(count, at + seen + SPARE_ROWS),
  };
}
