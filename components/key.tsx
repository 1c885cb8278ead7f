/** A key as it is printed on a keyboard. */
export function Key({ name }: { name: string }) {
  return <kbd class="key">{name}</kbd>;
}
