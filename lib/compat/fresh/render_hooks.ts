import { options, type VNode } from "preact";

/** A vnode as Preact's hooks see it. */
export interface AnyVNode {
  type: unknown;
  key: unknown;
  props: Record<string, unknown>;
}

export interface RenderObserver {
  enter(vnode: AnyVNode): void;
  leave(vnode: AnyVNode): void;
}

// Preact has one set of hooks per process. Rendering is synchronous: one page at a time.
let observer: RenderObserver | null = null;
let hooked = false;

/** Lets the observer see, and change, every vnode that is rendered meanwhile. */
export function observeRender<T>(by: RenderObserver, render: () => T): T {
  if (!hooked) installHooks();
  observer = by;
  try {
    return render();
  } finally {
    observer = null;
  }
}

function installHooks(): void {
  hooked = true;
  // `__b` is what Preact 10 calls its hook that runs before a vnode is rendered.
  const hooks: { __b?: (vnode: VNode) => void; diffed?: (vnode: VNode) => void } = options;
  const { __b: before, diffed: after } = hooks;
  hooks.__b = (vnode) => {
    observer?.enter(vnode as unknown as AnyVNode);
    before?.(vnode);
  };
  hooks.diffed = (vnode) => {
    observer?.leave(vnode as unknown as AnyVNode);
    after?.(vnode);
  };
}
