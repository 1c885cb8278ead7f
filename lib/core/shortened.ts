/** A text of at most so many characters; one that was longer ends in an ellipsis. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  // Half of a character is none.
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
