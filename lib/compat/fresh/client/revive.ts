import { type ComponentChild, Fragment, h, render } from "preact";
import { type Marker, parseMarker, slotTemplateId } from "../markers.ts";
import { pageNonce } from "./head.ts";
import { PartialHost, type PartialHostProps } from "./partial_host.ts";
import { type IslandProps, islands, SlotRef } from "./state.ts";

/** The nodes between an opening and its closing marker. */
interface Range extends Marker {
  start: Comment;
  end: Comment;
}

/** Turns server-rendered DOM back into vnodes, with its islands and partials as components. */
export class Reviver {
  #slots: Map<string | undefined, Range>;

  /** `root` is the page itself or a parsed response. */
  constructor(private root: Document, private props: IslandProps[]) {
    const templates = [...root.querySelectorAll("template")].map((template) => template.content);
    const slots = [root.body, ...templates].flatMap((node) => findRanges(node, ["slot"]));
    this.#slots = new Map(slots.reverse().map((slot) => [slot.args[0], slot]));
  }

  /** Wakes every island and partial that no other one holds. */
  wake(): void {
    for (const range of findRanges(this.root.body, ["island", "partial"])) {
      const vnode = this.#component(range);
      if (vnode !== undefined) render(vnode, fragmentRoot(range));
    }
  }

  partials(): PartialHostProps[] {
    return findRanges(this.root.body, ["partial"]).map((range) => this.#partial(range));
  }

  #partial({ args: [name = "", mode = ""], start, end }: Range): PartialHostProps {
    return { name, mode, children: this.#children(start.nextSibling, end) };
  }

  #children(first: Node | null, end: Node | null = null): ComponentChild[] {
    const result: ComponentChild[] = [];
    for (let node = first; node !== null && node !== end; node = node.nextSibling) {
      const range = rangeAt(node);
      if (range !== undefined) {
        result.push(this.#component(range) ?? this.#children(range.start.nextSibling, range.end));
        node = range.end;
      } else if (node instanceof Text) result.push(node.data);
      else if (node instanceof Element) result.push(this.#element(node));
    }
    return result;
  }

  #component(range: Range): ComponentChild | undefined {
    const { kind, args: [first = "", second, third], start, end } = range;
    const keyed = (key: string | undefined) => key ? { key } : {};
    if (kind === "partial") return h(PartialHost, { ...this.#partial(range), ...keyed(third) });
    if (kind === "key") return h(Fragment, keyed(first), this.#children(start.nextSibling, end));
    const component = kind === "island" ? islands.get(first) : undefined;
    if (component === undefined) return undefined;
    const props: IslandProps = { ...this.props[Number(second)], ...keyed(third) };
    for (const [name, value] of Object.entries(props)) {
      if (value instanceof SlotRef) props[name] = this.#slot(value.id);
    }
    return h(component, props);
  }

  #slot(id: number): ComponentChild {
    const range = this.#slots.get(String(id));
    const template = this.root.getElementById(slotTemplateId(id));
    const unused = template instanceof HTMLTemplateElement ? template.content.firstChild : null;
    return h(Fragment, null, this.#children(range?.start.nextSibling ?? unused, range?.end));
  }

  #element(element: Element): ComponentChild {
    const tag = element.localName;
    if (tag === "script" && !element.getAttribute("type")?.includes("json")) return null;
    const props: Record<string, unknown> = tag === "style" ? { nonce: pageNonce() } : {};
    for (const { name, value } of element.attributes) {
      // Inline handlers are text here and would be taken for functions.
      if (name.startsWith("on") || name === "nonce") continue;
      const isFlag = typeof Reflect.get(element, name) === "boolean";
      props[name === "data-frsh-key" ? "key" : name] = isFlag ? true : value;
    }
    if (tag === "template" || tag === "noscript") {
      props.dangerouslySetInnerHTML = { __html: element.innerHTML };
    }
    return h(tag, props, this.#children(element.firstChild));
  }
}

/** The ranges of these kinds below a node, without those that lie in one of another kind. */
function findRanges(root: Node, kinds: string[]): Range[] {
  const found: Range[] = [];
  for (let node = root.firstChild; node !== null; node = node.nextSibling) {
    const range = rangeAt(node);
    if (range !== undefined && kinds.includes(range.kind)) {
      found.push(range);
      // Slots lie within each other; each is looked up by its own id.
      if (range.kind !== "slot") node = range.end;
    }
    found.push(...findRanges(node, kinds));
  }
  return found;
}

function rangeAt(node: Node): Range | undefined {
  const marker = node instanceof Comment ? parseMarker(node.data) : undefined;
  if (!(node instanceof Comment) || marker === undefined) return undefined;
  let depth = 0;
  for (let end = node.nextSibling; end !== null; end = end.nextSibling) {
    if (!(end instanceof Comment)) continue;
    if (parseMarker(end.data)?.kind === marker.kind) depth++;
    else if (end.data === `/frsh:${marker.kind}` && depth-- === 0) {
      return { ...marker, start: node, end };
    }
  }
  return undefined;
}

/** Lets Preact render into the place between two markers as if it were an element. */
function fragmentRoot({ start, end }: Range): Element {
  const parent = start.parentNode;
  const nodes = () => {
    const all = Array.from(parent?.childNodes ?? []);
    return all.slice(all.indexOf(start) + 1, all.indexOf(end));
  };
  const root = {
    nodeType: Node.ELEMENT_NODE,
    ownerDocument: document,
    namespaceURI: parent instanceof Element ? parent.namespaceURI : null,
    get childNodes() {
      return nodes();
    },
    get firstChild() {
      return nodes()[0] ?? null;
    },
    insertBefore: (node: Node, before: Node | null) => parent?.insertBefore(node, before ?? end),
    removeChild: (node: Node) => parent?.removeChild(node),
    contains: (node: Node | null) => nodes().some((child) => child.contains(node)),
  };
  return root as unknown as Element;
}
