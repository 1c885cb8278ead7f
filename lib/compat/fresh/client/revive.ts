import { type ComponentChild, Fragment, h, render } from "preact";
import { isClosing, type Marker, parseMarker, slotTemplateId } from "../markers.ts";
import { type IslandProps, islands, SlotRef } from "./islands.ts";
import { PartialHost, type PartialMode } from "./partial_host.ts";

/** The nodes between an opening and its closing marker. */
interface Range {
  marker: Marker;
  start: Comment;
  end: Comment;
}

/** Turns server-rendered DOM back into vnodes, with its islands and partials as components. */
export class Reviver {
  #props: IslandProps[];
  #slots = new Map<string, Range>();
  #root: Document;
  #nonce: string;

  /** `root` is the page itself or a parsed response; `nonce` is always the page's. */
  constructor(root: Document, props: IslandProps[], nonce: string) {
    this.#root = root;
    this.#props = props;
    this.#nonce = nonce;
    for (const range of findRanges(root.body, "slot")) {
      const id = range.marker.args[0] ?? "";
      if (!this.#slots.has(id)) this.#slots.set(id, range);
    }
  }

  /** Wakes every island and partial that no other one holds. */
  wake(): void {
    for (const range of findRanges(this.#root.body, "island", "partial")) {
      const vnode = this.#component(range);
      if (vnode !== undefined) render(vnode, fragmentRoot(range));
    }
  }

  /** The outermost partials, as name, mode and content. */
  *partials(): Generator<{ name: string; mode: PartialMode; children: ComponentChild[] }> {
    for (const { marker, start, end } of findRanges(this.#root.body, "partial")) {
      const [name = "", mode] = marker.args;
      yield { name, mode: modeOf(mode), children: this.#children(start.nextSibling, end) };
    }
  }

  #children(first: Node | null, end: Node | null): ComponentChild[] {
    const result: ComponentChild[] = [];
    let node = first;
    while (node !== null && node !== end) {
      const range = rangeAt(node);
      if (range !== undefined) {
        const vnode = this.#component(range);
        result.push(vnode ?? this.#children(range.start.nextSibling, range.end));
        node = range.end;
      } else if (node instanceof Text) {
        result.push(node.data);
      } else if (node instanceof Element) {
        result.push(this.#element(node));
      }
      node = node.nextSibling;
    }
    return result;
  }

  #component({ marker, start, end }: Range): ComponentChild | undefined {
    const [first = "", second = "", third] = marker.args;
    const key = (text: string | undefined) => text ? { key: text } : {};
    switch (marker.kind) {
      case "island": {
        const component = islands.get(first);
        if (component === undefined) return undefined;
        const props = { ...this.#props[Number(second)] };
        for (const [name, value] of Object.entries(props)) {
          if (value instanceof SlotRef) props[name] = this.#slot(value.id);
        }
        return h(component, { ...props, ...key(third) });
      }
      case "partial": {
        const props = { name: first, mode: modeOf(second), ...key(third) };
        return h(PartialHost, props, this.#children(start.nextSibling, end));
      }
      case "key":
        return h(Fragment, key(first), this.#children(start.nextSibling, end));
      case "slot":
        return undefined;
    }
  }

  #slot(id: number): ComponentChild {
    const range = this.#slots.get(String(id));
    if (range !== undefined) {
      return h(Fragment, null, this.#children(range.start.nextSibling, range.end));
    }
    const template = this.#root.getElementById(slotTemplateId(id));
    if (!(template instanceof HTMLTemplateElement)) return null;
    return h(Fragment, null, this.#children(template.content.firstChild, null));
  }

  #element(element: Element): ComponentChild {
    const tag = element.localName;
    if (tag === "script" && !/json|template/.test(element.getAttribute("type") ?? "")) return null;
    const props: Record<string, unknown> = {};
    for (const { name, value } of element.attributes) {
      if (name === "data-frsh-key") props.key = value;
      // Inline handlers are text here and would be taken for functions.
      else if (!name.startsWith("on")) props[name] = isFlag(element, name) ? true : value;
    }
    if (tag === "style") props.nonce = this.#nonce;
    if (tag === "template" || tag === "noscript") {
      return h(tag, { ...props, dangerouslySetInnerHTML: { __html: element.innerHTML } });
    }
    return h(tag, props, this.#children(element.firstChild, null));
  }
}

function isFlag(element: Element, name: string): boolean {
  return typeof Reflect.get(element, name) === "boolean";
}

function modeOf(text: string | undefined): PartialMode {
  return text === "append" || text === "prepend" ? text : "replace";
}

/** All outermost ranges of these kinds below a node, in document order. */
function findRanges(root: Node, ...kinds: Marker["kind"][]): Range[] {
  const found: Range[] = [];
  const all = kinds.includes("slot");
  let node = root.firstChild;
  while (node !== null) {
    const range = rangeAt(node);
    if (range !== undefined && kinds.includes(range.marker.kind)) {
      found.push(range);
      // Slots lie within each other; each has its own id and is looked up by it.
      if (!all) node = range.end;
    } else if (node instanceof HTMLTemplateElement && all) {
      found.push(...findRanges(node.content, ...kinds));
    }
    if (node.hasChildNodes()) found.push(...findRanges(node, ...kinds));
    node = node.nextSibling;
  }
  return found;
}

function rangeAt(node: Node): Range | undefined {
  if (!(node instanceof Comment)) return undefined;
  const marker = parseMarker(node.data);
  if (marker === undefined) return undefined;
  let depth = 0;
  for (let next = node.nextSibling; next !== null; next = next.nextSibling) {
    if (!(next instanceof Comment)) continue;
    if (parseMarker(next.data)?.kind === marker.kind) depth++;
    else if (isClosing(next.data, marker.kind) && depth-- === 0) {
      return { marker, start: node, end: next };
    }
  }
  return undefined;
}

/** Lets Preact render into the place between two markers as if it were an element. */
function fragmentRoot({ start, end }: Range): Element {
  const parent = start.parentNode;
  const nodes = () => {
    const result: ChildNode[] = [];
    for (let node = start.nextSibling; node !== null && node !== end; node = node.nextSibling) {
      result.push(node);
    }
    return result;
  };
  const root = {
    nodeType: Node.ELEMENT_NODE,
    parentNode: parent,
    ownerDocument: document,
    namespaceURI: parent instanceof Element ? parent.namespaceURI : null,
    nextSibling: null,
    get childNodes() {
      return nodes();
    },
    get firstChild() {
      return nodes()[0] ?? null;
    },
    insertBefore: (node: Node, before: Node | null) => parent?.insertBefore(node, before ?? end),
    appendChild: (node: Node) => parent?.insertBefore(node, end),
    removeChild: (node: Node) => parent?.removeChild(node),
    contains: (node: Node | null) => nodes().some((child) => child.contains(node)),
  };
  return root as unknown as Element;
}
