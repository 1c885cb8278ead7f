import type { Collision } from "./collisions.ts";

/** Takes up what a list of the prompts of these servers has shown. */
export type OnPromptCollisions = (
  servers: readonly string[],
  found: readonly Collision[],
) => void;

/** Prompts that had to give up their plain name where they were last listed together. */
export class PromptCollisions {
  readonly #isThere: (server: string) => boolean;
  #known: readonly Collision[] = [];

  constructor(isThere: (server: string) => boolean) {
    this.#isThere = isThere;
  }

  note(servers: readonly string[], found: readonly Collision[]): void {
    const listed = new Set(servers);
    const others = this.list().filter((known) => !areBoth(known, (server) => listed.has(server)));
    this.#known = [...others, ...found];
  }

  list(): readonly Collision[] {
    return this.#known.filter((known) => areBoth(known, this.#isThere));
  }
}

function areBoth(
  { namespaced, keptBy, cutLike = keptBy }: Collision,
  isSo: (server: string) => boolean,
): boolean {
  return [namespaced, cutLike ?? namespaced].every((name) =>
    isSo(name.slice(0, name.indexOf(".")))
  );
}
