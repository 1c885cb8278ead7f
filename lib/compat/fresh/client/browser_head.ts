import {
  cloneElement,
  type ComponentChildren,
  h,
  isValidElement,
  render,
  toChildArray,
} from "preact";
import { useEffect } from "preact/hooks";

/** <Head> inside an island: keeps the document's head in step with what the island renders. */
export function BrowserHead({ children }: { children?: ComponentChildren }): null {
  useEffect(() => {
    const holder = document.createElement("div");
    const keyed = toChildArray(children).map((child) =>
      isValidElement(child) && child.key !== undefined && child.key !== null
        ? cloneElement(child, { "data-key": String(child.key) })
        : child
    );
    render(h("div", null, keyed), holder);
    for (const element of holder.firstElementChild?.children ?? []) syncElement(element);
    render(null, holder);
  });
  return null;
}

function syncElement(element: Element): void {
  if (element.localName === "title") {
    document.title = element.textContent ?? "";
    return;
  }
  const found = findNamesake(element);
  if (found === null) {
    document.head.append(element.cloneNode(true));
    return;
  }
  for (const { name, value } of element.attributes) {
    if (found.getAttribute(name) !== value) found.setAttribute(name, value);
  }
  if (found.innerHTML !== element.innerHTML) found.innerHTML = element.innerHTML;
}

/** The element of the document's head that says the same thing. */
export function findNamesake(element: Element): Element | null {
  const tag = element.localName;
  const find = (attribute: string) => {
    const value = element.getAttribute(attribute);
    if (value === null || value === "") return null;
    return document.head.querySelector(`${tag}[${attribute}="${CSS.escape(value)}"]`);
  };
  const byName = find("data-key") ?? find("id");
  if (byName !== null) return byName;
  if (tag === "meta") return find("name") ?? find("property");
  if (tag === "link") return find("rel");
  return tag === "base" ? document.head.querySelector("base") : null;
}
