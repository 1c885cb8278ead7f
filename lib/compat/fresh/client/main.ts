import { options } from "preact";
import { adjustAttributes } from "../attributes.ts";
import { STATE_ID } from "../markers.ts";
import { loadIslands, readState } from "./islands.ts";
import { followProcess } from "./live_reload.ts";
import { Navigation } from "./navigation.ts";
import { Reviver } from "./revive.ts";

// This module is the browser's entry point: importing it is what starts the page.
await start();

async function start(): Promise<void> {
  const state = readState(document);
  if (state === undefined) return;
  const nonce = document.querySelector<HTMLScriptElement>(`script#${STATE_ID}`)?.nonce ?? "";

  const before = options.vnode;
  options.vnode = (vnode) => {
    if (typeof vnode.type === "string") {
      const props: Record<string, unknown> = vnode.props;
      Object.assign(props, adjustAttributes(vnode.type, props));
    }
    before?.(vnode);
  };

  const props = await loadIslands(state);
  new Reviver(document, props, nonce).wake();
  new Navigation(state.build, nonce).start();
  if (state.alive !== undefined) followProcess(state.alive, state.build);
}
