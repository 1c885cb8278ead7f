import { cutName, flatten, hashedName } from "./names.ts";

/** A tool or prompt that is told from another by the hash at the end of its name alone. */
export interface Collision {
  /** The name both would have; where both are too long, what is left of it. */
  plain: string;
  /** Who keeps it: a namespaced name, or undefined for one of the gateway's own tools. */
  keptBy: string | undefined;
  /** Where both are too long, so that neither keeps it: the other one. */
  cutLike?: string;
  /** Who does not, and what it is called instead. */
  namespaced: string;
  flat: string;
}

/** Those whose plain flat name belongs to another, or is the same as another's once it is cut. */
export function findCollisions(
  /** The flat name of each namespaced one, in the order in which they were given. */
  names: ReadonlyMap<string, string>,
  maxLength: number,
): Collision[] {
  const byFlat = new Map(Array.from(names, ([namespaced, flat]) => [flat, namespaced]));
  const firstCut = new Map<string, string>();
  const found: Collision[] = [];
  for (const [namespaced, flat] of names) {
    const whole = flatten(namespaced);
    if (whole === flat) continue;
    const isTooLong = whole.length > maxLength;
    const plain = isTooLong ? hashedName(whole, namespaced, maxLength) : whole;
    if (plain !== flat) found.push({ plain, keptBy: byFlat.get(plain), namespaced, flat });
    if (!isTooLong) continue;
    const cut = cutName(whole, maxLength);
    const cutLike = firstCut.get(cut);
    if (cutLike === undefined) firstCut.set(cut, namespaced);
    else if (plain === flat) {
      found.push({ plain: cut, keptBy: undefined, cutLike, namespaced, flat });
    }
  }
  return found;
}
