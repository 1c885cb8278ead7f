import { type ComponentChildren, Fragment, h, isValidElement, options, type VNode } from "preact";
import { jsxTemplate } from "preact/jsx-runtime";
import { renderToString } from "preact-render-to-string";
import { adjustAttributes } from "./attributes.ts";
import type { Build, Island } from "./build.ts";
import { type IslandUse, isSignal, serializeProps } from "./island_props.ts";
import { linkAttributes, linkState } from "./links.ts";
import {
  closeMarker,
  type MarkerKind,
  openMarker,
  type PageState,
  slotTemplateId,
  STATE_ID,
} from "./markers.ts";
import { Head, Partial } from "./runtime.ts";

export const ALIVE_PATH = "/_frsh/alive";

export interface PageInit {
  build: Build;
  islands: ReadonlyMap<unknown, Island>;
  url: URL;
  basePath: string;
  isPartial: boolean;
  isDevelopment: boolean;
}

/** A vnode as the renderer's hooks see it. */
interface AnyVNode {
  type: unknown;
  key: unknown;
  props: Record<string, unknown>;
}

/** Where in the tree the renderer is. */
interface Zone {
  /** The vnode that opened it. */
  vnode?: AnyVNode;
  /** Inside an island: what is rendered here is the island's own business. */
  island?: boolean;
  /** Inside a partial or slot: the browser rebuilds vnodes from this HTML and needs the keys. */
  keyed?: boolean;
  /** Inside <Head>, or inside the document's own <head>. */
  head?: "component" | "document";
}

interface SlotContent {
  content: ComponentChildren;
  rendered: boolean;
}

const HEAD_TAGS = new Set([
  "title",
  "meta",
  "link",
  "script",
  "style",
  "base",
  "noscript",
  "template",
]);

// Preact has one set of hooks per process. Rendering is synchronous, so that one page at a time
// is being rendered, and none between.
let rendering: PageRenderer | null = null;
let hooked = false;

function installHooks(): void {
  if (hooked) return;
  hooked = true;
  // `__b` is what Preact 10 calls its hook that runs before a vnode is rendered.
  const hooks: { __b?: (vnode: VNode) => void; diffed?: (vnode: VNode) => void } = options;
  const { __b: before, diffed: after } = hooks;
  hooks.__b = (vnode) => {
    rendering?.enter(vnode as unknown as AnyVNode);
    before?.(vnode);
  };
  hooks.diffed = (vnode) => {
    rendering?.leave(vnode as unknown as AnyVNode);
    after?.(vnode);
  };
}

/** Renders one page: HTML, the islands' data, and the scripts that wake them. */
export class PageRenderer {
  readonly nonce: string = crypto.randomUUID().replaceAll("-", "");
  #init: PageInit;
  #zones: Zone[] = [{}];
  #undo: (() => void)[] = [];
  #islands = new Map<string, Island>();
  #uses: IslandUse[] = [];
  #slots: SlotContent[] = [];
  #partials = new Set<string>();
  #seen = new Set<string>();
  #headContent: ComponentChildren = null;
  #headElements = new Map<string, ComponentChildren>();
  #clientNav = false;

  constructor(init: PageInit) {
    this.#init = init;
  }

  render(content: ComponentChildren): string {
    installHooks();
    rendering = this;
    try {
      let html = this.#toHtml(content);
      const scripts = this.#unusedSlots() + this.#scripts();
      const head = this.#headHtml();
      const seen = this.#seen;
      html = seen.has("body")
        ? html.replace(this.#mark("body"), () => scripts)
        : seen.has("html")
        ? html.replace(this.#mark("end"), () => scripts)
        : `<body>${html}${scripts}</body>`;
      const headTag = `<head><meta charset="utf-8"/>${head}</head>`;
      html = seen.has("head")
        ? html.replace(this.#mark("head"), () => head)
        : seen.has("html")
        ? html.replace(this.#mark("start"), () => headTag)
        : headTag + html;
      if (!seen.has("html")) html = `<html>${html}</html>`;
      html = html.replace(this.#mark("start"), "").replace(this.#mark("end"), "");
      return `<!DOCTYPE html>${html}`;
    } finally {
      rendering = null;
      // A vnode kept in a constant is rendered again, for another request.
      for (const undo of this.#undo.reverse()) undo();
    }
  }

  /** What the browser will fetch once it has read the page. */
  preloads(): string[] {
    if (this.#init.isPartial || !this.#needsClient()) return [];
    const chunks = new Set([...this.#islands.values()].map((island) => island.chunk));
    return [this.#init.build.runtime, ...chunks].map((path) => this.#init.basePath + path);
  }

  enter(vnode: AnyVNode): void {
    if (typeof vnode.type === "string") this.#enterElement(vnode, vnode.type);
    else if (typeof vnode.type === "function") this.#enterComponent(vnode);
  }

  leave(vnode: AnyVNode): void {
    if (this.#zone.vnode === vnode) this.#zones.pop();
  }

  get #zone(): Zone {
    return this.#zones.at(-1) ?? {};
  }

  #open(vnode: AnyVNode, change: Zone): void {
    this.#zones.push({ ...this.#zone, ...change, vnode });
  }

  #enterComponent(vnode: AnyVNode): void {
    const { type, props } = vnode;
    const zone = this.#zone;
    if (type === Partial) return this.#enterPartial(vnode);
    if (type === Head) return this.#open(vnode, { head: "component" });
    if (type === Slot) return this.#open(vnode, { island: false, keyed: true });
    if (type === Marked) {
      // A vnode that is used twice on the page has been replaced already.
      if (props.kind === "island") this.#open(vnode, { island: true });
      return;
    }
    if (zone.island) return;

    const island = this.#init.islands.get(type);
    if (island !== undefined) {
      this.#islands.set(island.name, island);
      const content = this.#takeSlots(props);
      const index = this.#uses.push({ island: island.name, props: content }) - 1;
      const child = h(type as typeof Fragment, content);
      this.#mount(vnode, "island", [island.name, index, keyOf(vnode) ?? ""], child);
      this.#open(vnode, { island: true });
      return;
    }
    const key = keyOf(vnode);
    // Preact gives templates a key of its own making.
    if (zone.keyed && key !== undefined && !("tpl" in props)) {
      this.#mount(vnode, "key", [key], h(type as typeof Fragment, props));
    }
  }

  #enterPartial(vnode: AnyVNode): void {
    const { name, mode = "replace", children } = vnode.props;
    if (this.#zone.island) throw new Error("<Partial> components cannot be used inside islands.");
    if (this.#partials.has(String(name))) {
      throw new Error(`Rendered response contains duplicate partial name: "${name}"`);
    }
    this.#partials.add(String(name));
    const args = [String(name), String(mode), keyOf(vnode) ?? ""];
    this.#mount(vnode, "partial", args, children as ComponentChildren);
    this.#open(vnode, { keyed: true });
  }

  #enterElement(vnode: AnyVNode, tag: string): void {
    const { props } = vnode;
    const zone = this.#zone;
    if (zone.head !== undefined && HEAD_TAGS.has(tag) && this.#moveToHead(vnode, tag)) return;

    const changes = adjustAttributes(tag, props) ?? {};
    if (changes["f-client-nav"] === "true" || props["f-client-nav"] === "true") {
      this.#clientNav = true;
    }
    if ((tag === "script" || tag === "style") && !props.nonce) changes.nonce = this.nonce;
    const key = keyOf(vnode);
    if (zone.keyed && !zone.island && key !== undefined) changes["data-frsh-key"] = key;
    if (tag === "a" && !zone.island) Object.assign(changes, this.#linkChanges(props));
    if (tag === "html" || tag === "head" || tag === "body") {
      this.#seen.add(tag);
      changes.children = this.#documentChildren(tag, props.children as ComponentChildren);
    }
    if (Object.keys(changes).length > 0) this.#patch(vnode, tag, { ...props, ...changes });
  }

  #documentChildren(tag: "html" | "head" | "body", children: ComponentChildren): ComponentChildren {
    if (tag === "html") return [raw(this.#mark("start")), children, raw(this.#mark("end"))];
    if (tag === "body") return [children, raw(this.#mark("body"))];
    // Rendered last, when every <Head> of the page is known.
    this.#headContent = children;
    return raw(this.#mark("head"));
  }

  #linkChanges(props: Record<string, unknown>): Record<string, string> {
    const { href } = props;
    if (typeof href !== "string" || !href.startsWith("/") || props["aria-current"] !== undefined) {
      return {};
    }
    const state = linkState(href, this.#init.url);
    return state === undefined ? {} : linkAttributes(state);
  }

  /** Collects what <Head> holds; in the document's head, puts it in the place of its namesake. */
  #moveToHead(vnode: AnyVNode, tag: string): boolean {
    const id = headIdentity(vnode, tag);
    const key = keyOf(vnode);
    const props = key === undefined ? vnode.props : { ...vnode.props, "data-key": key };
    if (this.#zone.head === "component") {
      this.#headElements.set(id, h(tag, props));
      this.#patch(vnode, Fragment, {});
      return true;
    }
    const element = this.#headElements.get(id);
    if (element === undefined) {
      this.#patch(vnode, tag, props);
      return false;
    }
    this.#headElements.delete(id);
    this.#patch(vnode, Fragment, { children: element });
    return true;
  }

  #headHtml(): string {
    this.#zones.push({ head: "document" });
    const html = this.#toHtml(this.#headContent);
    const rest = [...this.#headElements.values()];
    this.#headElements.clear();
    return html + this.#toHtml(rest);
  }

  /** JSX that is passed to an island stays on the server; the island gets a slot for it. */
  #takeSlots(props: Record<string, unknown>): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(props)) {
      const isEmpty = value === null || value === undefined || typeof value === "function";
      // To Preact, a signal is an element too.
      const isContent = name === "children" || (isValidElement(value) && !isSignal(value));
      if (isEmpty || !isContent) {
        result[name] = value;
        continue;
      }
      const content = value as ComponentChildren;
      const slot = { content, rendered: false };
      const id = this.#slots.push(slot) - 1;
      result[name] = h(Slot, { id, slot });
    }
    return result;
  }

  /** Slots that their islands did not show yet. */
  #unusedSlots(): string {
    let html = "";
    // Rendering one may add more: for...of sees those too.
    for (const [id, slot] of this.#slots.entries()) {
      if (slot.rendered) continue;
      this.#zones.push({ keyed: true });
      html += `<template id="${slotTemplateId(id)}">${this.#toHtml(slot.content)}</template>`;
      this.#zones.pop();
    }
    return html;
  }

  #needsClient(): boolean {
    return this.#islands.size > 0 || this.#clientNav || this.#partials.size > 0 ||
      this.#init.isDevelopment;
  }

  #scripts(): string {
    const { build, basePath, isPartial, isDevelopment } = this.#init;
    if (build.runtime === "" || (!isPartial && !this.#needsClient())) return "";
    const state: PageState = {
      build: build.id,
      islands: [...this.#islands.values()].map((
        { name, chunk, exportName },
      ) => [name, basePath + chunk, exportName]),
      props: serializeProps(this.#uses, slotIdOf),
      ...(isDevelopment ? { alive: basePath + ALIVE_PATH } : {}),
    };
    const data = `<script type="application/json" id="${STATE_ID}" nonce="${this.nonce}">${
      escapeJson(JSON.stringify(state))
    }</script>`;
    if (isPartial) return data;
    const src = encodeURI(basePath + build.runtime);
    return `${data}<script type="module" src="${src}" nonce="${this.nonce}"></script>`;
  }

  #toHtml(children: ComponentChildren): string {
    return renderToString(h(Fragment, null, children));
  }

  /** Stands for what is only known at the end. Nobody can guess the nonce and forge one. */
  #mark(place: "start" | "end" | "head" | "body"): string {
    return `<!--${this.nonce}:${place}-->`;
  }

  #mount(
    vnode: AnyVNode,
    kind: MarkerKind,
    args: (string | number)[],
    children: ComponentChildren,
  ): void {
    this.#patch(vnode, Marked, { kind, args, children });
  }

  #patch(vnode: AnyVNode, type: unknown, props: Record<string, unknown>): void {
    const { type: oldType, props: oldProps } = vnode;
    this.#undo.push(() => {
      vnode.type = oldType;
      vnode.props = oldProps;
    });
    vnode.type = type;
    vnode.props = props;
  }
}

interface MarkedProps {
  kind: MarkerKind;
  args: (string | number)[];
  children?: ComponentChildren;
}

function Marked({ kind, args, children }: MarkedProps): VNode {
  return jsxTemplate([openMarker(kind, ...args), closeMarker(kind)], [children]);
}

interface SlotProps {
  id: number;
  slot: SlotContent;
}

function Slot({ id, slot }: SlotProps): VNode {
  slot.rendered = true;
  return jsxTemplate([openMarker("slot", id), closeMarker("slot")], [slot.content]);
}

function slotIdOf(value: object): number | undefined {
  const vnode = value as VNode<SlotProps>;
  return vnode.type === Slot ? vnode.props.id : undefined;
}

function raw(html: string): VNode {
  return jsxTemplate([html]);
}

function keyOf({ key }: AnyVNode): string | undefined {
  return key === null || key === undefined ? undefined : String(key);
}

/** Two elements with the same identity are the same thing said twice; the later one wins. */
function headIdentity(vnode: AnyVNode, tag: string): string {
  const key = keyOf(vnode);
  if (key !== undefined) return key;
  if (tag === "title") return "title";
  const content = { meta: "content", link: "href" }[tag];
  const rest = Object.entries(vnode.props)
    .filter(([name]) => name !== "children" && name !== "nonce" && name !== content)
    .map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`);
  return [tag, ...rest.sort()].join("\n");
}

function escapeJson(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
