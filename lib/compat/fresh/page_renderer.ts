import { type ComponentChildren, Fragment, h, isValidElement, type VNode } from "preact";
import { jsxTemplate } from "preact/jsx-runtime";
import { renderToString } from "preact-render-to-string";
import { adjustAttributes, linkAttributes } from "./attributes.ts";
import type { Build, Island } from "./build.ts";
import { type IslandUse, isSignal, serializeProps } from "./island_props.ts";
import { type MarkerKind, markers, type PageState, slotTemplateId, STATE_ID } from "./markers.ts";
import { type AnyVNode, observeRender, type RenderObserver } from "./render_hooks.ts";
import { Head, Partial } from "./runtime.ts";
import type { ResolvedFreshConfig } from "./types.ts";

export const ALIVE_PATH = "/_frsh/alive";

const HEAD_TAGS = /^(title|meta|link|script|style|base|noscript|template)$/;

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

interface SlotProps {
  id: number;
  slot: { content: ComponentChildren; rendered: boolean };
}

/** Renders one page: HTML, the islands' data, and the scripts that wake them. */
export class PageRenderer implements RenderObserver {
  readonly nonce: string = crypto.randomUUID().replaceAll("-", "");
  #zones: Zone[] = [{}];
  #undo: (() => void)[] = [];
  #used = new Set<Island>();
  #uses: IslandUse[] = [];
  #slots: SlotProps["slot"][] = [];
  #partials = new Set<unknown>();
  #seen = new Set<string>();
  #headContent: ComponentChildren = null;
  #headElements = new Map<string, ComponentChildren>();
  #needsClient: boolean;

  constructor(
    private request: { url: URL; isPartial: boolean; config: ResolvedFreshConfig },
    private build: Build,
    private islands: ReadonlyMap<unknown, Island>,
  ) {
    this.#needsClient = request.isPartial || request.config.mode === "development";
  }

  render(content: ComponentChildren): string {
    try {
      return observeRender(this, () => this.#document(content));
    } finally {
      // A vnode kept in a constant is rendered again, for another request.
      for (const undo of this.#undo.reverse()) undo();
    }
  }

  #document(content: ComponentChildren): string {
    let html = toHtml(content);
    const scripts = this.#unusedSlots() + this.#scripts();
    const head = this.#headHtml();
    // Whatever of the document the app did not render is put around what it did.
    if (!this.#seen.has("body")) html = `<body>${html}${this.#mark("body")}</body>`;
    if (!this.#seen.has("head")) html = `<head>${CHARSET}${this.#mark("head")}</head>${html}`;
    if (!this.#seen.has("html")) html = `<html>${html}</html>`;
    html = html.replace(this.#mark("body"), () => scripts);
    return `<!DOCTYPE html>${html.replace(this.#mark("head"), () => head)}`;
  }

  /** What the browser will fetch once it has read the page. */
  preloads(): string[] {
    if (this.request.isPartial || !this.#needsClient || this.build.runtime === "") return [];
    const chunks = new Set(Array.from(this.#used, (island) => island.chunk));
    return [this.build.runtime, ...chunks].map((path) => this.#url(path));
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
    const key = keyOf(vnode);
    if (type === Partial) return this.#enterPartial(vnode);
    if (type === Head) return this.#open(vnode, { head: "component" });
    if (type === Slot) return this.#open(vnode, { island: false, keyed: true });
    // A vnode that is used twice on the page has been replaced already.
    if (type === Marked && props.kind === "island") return this.#open(vnode, { island: true });
    if (type === Marked || this.#zone.island) return;

    const island = this.islands.get(type);
    if (island !== undefined) {
      this.#used.add(island);
      this.#needsClient = true;
      const taken = this.#takeSlots(props);
      const index = this.#uses.push({ island: island.name, props: taken }) - 1;
      const child = h(type as typeof Fragment, taken);
      this.#wrap(vnode, "island", [island.name, index, key ?? ""], child);
      this.#open(vnode, { island: true });
    } else if (this.#zone.keyed && key !== undefined && !("tpl" in props)) {
      // Preact gives templates (tpl) a key of its own making.
      this.#wrap(vnode, "key", [key], h(type as typeof Fragment, props));
    }
  }

  #enterPartial(vnode: AnyVNode): void {
    const { name, mode = "replace", children } = vnode.props;
    if (this.#zone.island) throw new Error(`Cannot use the partial "${name}" in an island`);
    if (this.#partials.has(name)) {
      throw new Error(`Cannot render two partials named "${name}" on one page`);
    }
    this.#partials.add(name);
    this.#needsClient = true;
    this.#wrap(vnode, "partial", [String(name), String(mode), keyOf(vnode) ?? ""], children);
    this.#open(vnode, { keyed: true });
  }

  #enterElement(vnode: AnyVNode, tag: string): void {
    const { island, keyed, head } = this.#zone;
    if (head !== undefined && HEAD_TAGS.test(tag) && this.#moveToHead(vnode, tag)) return;

    const { props } = vnode;
    const { href, children } = props;
    const changes = adjustAttributes(tag, props);
    const key = keyOf(vnode);
    if ((changes["f-client-nav"] ?? props["f-client-nav"]) === "true") this.#needsClient = true;
    if ((tag === "script" || tag === "style") && !props.nonce) changes.nonce = this.nonce;
    if (keyed && !island && key !== undefined) changes["data-frsh-key"] = key;
    if (tag === "a" && typeof href === "string" && href.startsWith("/")) {
      if (props["aria-current"] === undefined) {
        Object.assign(changes, linkAttributes(href, this.request.url));
      }
    }
    if (tag === "html" || tag === "head" || tag === "body") this.#seen.add(tag);
    if (tag === "body") changes.children = [children, jsxTemplate([this.#mark("body")])];
    if (tag === "head") {
      // Rendered last, when every <Head> of the page is known.
      this.#headContent = children as ComponentChildren;
      changes.children = jsxTemplate([this.#mark("head")]);
    }
    if (Object.keys(changes).length > 0) this.#patch(vnode, tag, { ...props, ...changes });
  }

  /** Collects what <Head> holds; in the document's head, puts it in the place of its namesake. */
  #moveToHead(vnode: AnyVNode, tag: string): boolean {
    const id = headIdentity(vnode, tag);
    const key = keyOf(vnode);
    const props = key === undefined ? vnode.props : { ...vnode.props, "data-key": key };
    const element = this.#headElements.get(id);
    if (this.#zone.head === "component") {
      this.#headElements.set(id, h(tag, props));
      this.#patch(vnode, Fragment, {});
    } else if (element !== undefined) {
      this.#headElements.delete(id);
      this.#patch(vnode, Fragment, { children: element });
    } else {
      this.#patch(vnode, tag, props);
      return false;
    }
    return true;
  }

  #headHtml(): string {
    this.#zones.push({ head: "document" });
    const html = toHtml(this.#headContent);
    const rest = [...this.#headElements.values()];
    this.#headElements.clear();
    return html + toHtml(rest);
  }

  /** JSX that is passed to an island stays on the server; the island gets a slot for it. */
  #takeSlots(props: AnyVNode["props"]): AnyVNode["props"] {
    return Object.fromEntries(
      Object.entries(props).map(([name, value]) => {
        const isNothing = value === null || value === undefined || typeof value === "function";
        // To Preact, a signal is an element too.
        const isContent = name === "children" || (isValidElement(value) && !isSignal(value));
        if (isNothing || !isContent) return [name, value];
        const slot = { content: value as ComponentChildren, rendered: false };
        return [name, h(Slot, { id: this.#slots.push(slot) - 1, slot })];
      }),
    );
  }

  /** Slots that their islands did not show yet. */
  #unusedSlots(): string {
    let html = "";
    // Rendering one may add more: for...of sees those too.
    for (const [id, { content, rendered }] of this.#slots.entries()) {
      if (rendered) continue;
      this.#zones.push({ keyed: true });
      html += `<template id="${slotTemplateId(id)}">${toHtml(content)}</template>`;
      this.#zones.pop();
    }
    return html;
  }

  #scripts(): string {
    if (!this.#needsClient || this.build.runtime === "") return "";
    const state: PageState = {
      build: this.build.id,
      islands: Array.from(this.#used, (one) => [one.name, this.#url(one.chunk), one.exportName]),
      props: serializeProps(this.#uses, slotIdOf),
    };
    if (this.request.config.mode === "development") state.alive = this.#url(ALIVE_PATH);
    const json = JSON.stringify(state).replaceAll("<", "\\u003c");
    const attributes = `id="${STATE_ID}" nonce="${this.nonce}"`;
    const data = `<script type="application/json" ${attributes}>${json}</script>`;
    if (this.request.isPartial) return data;
    const src = this.#url(this.build.runtime);
    return `${data}<script type="module" src="${src}" nonce="${this.nonce}"></script>`;
  }

  #url(path: string): string {
    return encodeURI(this.request.config.basePath + path);
  }

  /** Stands for what is only known at the end. Nobody can guess the nonce and forge one. */
  #mark(place: "head" | "body"): string {
    return `<!--${this.nonce}:${place}-->`;
  }

  #wrap(vnode: AnyVNode, kind: MarkerKind, args: (string | number)[], children: unknown): void {
    this.#patch(vnode, Marked, { kind, args, children });
  }

  #patch(vnode: AnyVNode, type: unknown, props: AnyVNode["props"]): void {
    const { type: oldType, props: oldProps } = vnode;
    this.#undo.push(() => Object.assign(vnode, { type: oldType, props: oldProps }));
    Object.assign(vnode, { type, props });
  }
}

const CHARSET = '<meta charset="utf-8"/>';

interface MarkedProps {
  kind: MarkerKind;
  args: (string | number)[];
  children?: ComponentChildren;
}

function Marked({ kind, args, children }: MarkedProps): VNode {
  return jsxTemplate(markers(kind, args), [children]);
}

function Slot({ id, slot }: SlotProps): VNode {
  slot.rendered = true;
  return jsxTemplate(markers("slot", [id]), [slot.content]);
}

function slotIdOf(value: unknown): number | undefined {
  const vnode = value as VNode<SlotProps> | null | undefined;
  return vnode?.type === Slot ? vnode.props.id : undefined;
}

function toHtml(children: ComponentChildren): string {
  return renderToString(h(Fragment, null, children));
}

function keyOf({ key }: AnyVNode): string | undefined {
  return key === null || key === undefined ? undefined : String(key);
}

/** Two elements with the same identity are the same thing said twice; the later one wins. */
function headIdentity(vnode: AnyVNode, tag: string): string {
  const content = { meta: "content", link: "href" }[tag];
  const rest = Object.entries(vnode.props)
    .filter(([name]) => name !== "children" && name !== "nonce" && name !== content)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return keyOf(vnode) ?? (tag === "title" ? tag : [tag, ...rest.sort()].join("\n"));
}
