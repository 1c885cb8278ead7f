import { options } from "preact";
import { adjustAttributes } from "../attributes.ts";
import { keepInput } from "./early_input.ts";
import { startNavigation } from "./navigation.ts";
import { Reviver } from "./revive.ts";
import { loadIslands, readState } from "./state.ts";

// This module is the browser's entry point: importing it is what starts the page.
await start();

async function start(): Promise<void> {
  const state = readState(document);
  if (state === undefined) return;
  const before = options.vnode;
  options.vnode = (vnode) => {
    const { type, props } = vnode;
    if (typeof type === "string") Object.assign(props, adjustAttributes(type, { ...props }));
    before?.(vnode);
  };
  const reviver = new Reviver(document, await loadIslands(state));
  const enterAgain = keepInput(document);
  reviver.wake();
  startNavigation();
  enterAgain();
  if (state.alive !== undefined) reloadWithProcess(state.alive, state.build);
}

/** Reloads the page when another process answers than the one that rendered it. */
function reloadWithProcess(url: string, build: string): void {
  const source = new EventSource(url);
  source.onmessage = ({ data }) => data === build || location.reload();
  addEventListener("pagehide", () => source.close());
}
