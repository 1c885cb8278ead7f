import {
  cloneElement,
  type ComponentChildren,
  h,
  isValidElement,
  render,
  toChildArray,
} from "preact";
import { useEffect } from "preact/hooks";
import { STATE_ID } from "../markers.ts";

/** <Head> inside an island: keeps the document's head in step with what the island renders. */
export function BrowserHead({ children }: { children?: ComponentChildren }): null {
  useEffect(() => {
    const holder = document.createElement("div");
    const keyed = toChildArray(children).map((child) =>
      isValidElement(child) ? cloneElement(child, { "data-key": child.key ?? undefined }) : child
    );
    render(h("div", null, keyed), holder);
    for (const element of holder.firstElementChild?.children ?? []) putInHead(element);
    render(null, holder);
  });
  return null;
}

/** Puts an element into the document's head, in the place of the one that says the same. */
export function putInHead(element: Element): void {
  const id = identity(element);
  const found = [...document.head.querySelectorAll<HTMLElement>(element.localName)]
    .find((other) => identity(other) === id);
  const target = found ?? document.createElement(element.localName);
  for (const { name, value } of element.attributes) {
    if (name !== "nonce" && target.getAttribute(name) !== value) target.setAttribute(name, value);
  }
  if (target.innerHTML !== element.innerHTML) target.innerHTML = element.innerHTML;
  if (found !== undefined) return;
  target.nonce = pageNonce();
  document.head.append(target);
}

/** The server's data block: the last of that name, as it is written after all content. */
export function stateBlock(root: Document): HTMLElement | undefined {
  return [...root.querySelectorAll<HTMLElement>(`script[type="application/json"]#${STATE_ID}`)]
    .at(-1);
}

export function pageNonce(): string {
  return stateBlock(document)?.nonce ?? "";
}

function identity(element: Element): string | null {
  const value = (name: string) => element.getAttribute(name);
  const own = value("data-key") ?? value("id");
  if (own !== null) return own;
  switch (element.localName) {
    case "title":
    case "base":
      return "only one";
    case "meta":
      return value("name") ?? value("property") ?? value("http-equiv") ?? value("charset");
    case "link":
      return value("rel") === "stylesheet" ? value("href") : value("rel");
    default:
      return element.innerHTML;
  }
}
