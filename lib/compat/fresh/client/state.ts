import { computed, signal } from "@preact/signals";
import { parse } from "devalue";
import type { ComponentType } from "preact";
import { setBuildId } from "../build_id.ts";
import type { PageState } from "../markers.ts";
import { stateBlock } from "./head.ts";

/** What the server sent for an island's prop that is JSX. */
export class SlotRef {
  constructor(readonly id: number) {}
}

export type IslandProps = Record<string, unknown>;

/** The components of the islands seen so far, by name. */
export const islands: Map<string, ComponentType<IslandProps>> = new Map();

export function readState(root: Document): PageState | undefined {
  const text = stateBlock(root)?.textContent;
  return text ? JSON.parse(text) : undefined;
}

/** Gets the islands' code and revives their props. */
export async function loadIslands(state: PageState): Promise<IslandProps[]> {
  setBuildId(state.build);
  await Promise.all(state.islands.map(async ([name, chunk, exportName]) => {
    try {
      islands.set(name, islands.get(name) ?? (await import(chunk))[exportName]);
    } catch (error) {
      // The others still work, and this one's HTML stays as the server made it.
      reportError(error);
    }
  }));
  return parse(state.props, {
    Slot: ([id]: [number]) => new SlotRef(id),
    Computed: ([value]: [unknown]) => computed(() => value),
    Signal: ([value]: [unknown]) => signal(value),
  });
}
