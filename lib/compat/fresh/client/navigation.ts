import { linkAttributes, linkState } from "../links.ts";
import { STATE_ID } from "../markers.ts";
import { findNamesake } from "./browser_head.ts";
import { loadIslands, readState } from "./islands.ts";
import { partials } from "./partial_host.ts";
import { Reviver } from "./revive.ts";

const PARTIAL_PARAM = "fresh-partial";

interface PageEntry {
  fClientNav: true;
  scrollX: number;
  scrollY: number;
}

interface Visit {
  /** What the address bar shows afterwards; absent when it stays. */
  url?: URL;
  /** Where the content comes from. */
  source: URL;
  init?: RequestInit;
}

interface Indicator {
  value: boolean;
}

/** The page cannot show this response: the browser has to load it itself. */
class NotPartial extends Error {}

/** Client-side navigation: links, forms, buttons and the history, where f-client-nav is on. */
export class Navigation {
  #build: string;
  #nonce: string;
  #visit = 0;

  constructor(build: string, nonce: string) {
    this.#build = build;
    this.#nonce = nonce;
  }

  start(): void {
    if (history.state === null) history.replaceState(entry(scrollX, scrollY), "");
    document.addEventListener("click", (event) => this.#click(event));
    document.addEventListener("submit", (event) => this.#submit(event));
    addEventListener("popstate", (event) => this.#popstate(event));
  }

  #click(event: MouseEvent): void {
    if (!(event.target instanceof Element) || event.defaultPrevented || event.button !== 0) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;

    const link = event.target.closest("a");
    if (link !== null) return this.#follow(link, event);

    const button = event.target.closest("button");
    if (button === null || (button.type === "submit" && button.form !== null)) return;
    const source = button.getAttribute("f-partial");
    if (source === null || !isEnabled(button)) return;
    this.#go({ source: new URL(source, location.href) }, indicatorOf(button));
  }

  #follow(link: HTMLAnchorElement | SVGAElement, event: MouseEvent): void {
    if (!(link instanceof HTMLAnchorElement) || !isEnabled(link)) return;
    if (link.href === "" || link.origin !== location.origin) return;
    if ((link.target !== "" && link.target !== "_self") || link.hasAttribute("download")) return;
    const url = new URL(link.href);
    if (link.getAttribute("href")?.startsWith("#") || isJump(url)) return;

    event.preventDefault();
    if (url.href !== location.href) {
      history.replaceState(entry(scrollX, scrollY), "");
      history.pushState(entry(0, 0), "", url);
    }
    const source = new URL(link.getAttribute("f-partial") ?? url, location.href);
    this.#go({ url, source }, indicatorOf(link), () => {
      const target = url.hash === "" ? null : document.getElementById(decodeHash(url));
      if (target === null) scrollTo({ left: 0, top: 0, behavior: "instant" });
      else target.scrollIntoView({ behavior: "instant" });
    });
  }

  #submit(event: SubmitEvent): void {
    const { target: form, submitter } = event;
    if (!(form instanceof HTMLFormElement) || event.defaultPrevented || !isEnabled(form)) return;
    if (submitter !== null && !isEnabled(submitter)) return;
    const method = (submitter?.getAttribute("formmethod") ?? form.method).toLowerCase();
    if (method !== "get" && method !== "post") return;

    // `form.action` cannot tell: it is the page's own address where none is set.
    const action = submitter?.getAttribute("formaction") ?? form.getAttribute("action");
    const partial = submitter?.getAttribute("f-partial") ??
      submitter?.getAttribute("formaction") ?? form.getAttribute("f-partial") ?? action;
    if (partial === null) return;
    const source = new URL(partial, location.href);
    const url = new URL(action ?? location.href, location.href);
    if (source.origin !== location.origin || url.origin !== location.origin) return;

    event.preventDefault();
    const data = new FormData(form, submitter);
    const visit: Visit = { url, source };
    if (method === "post") visit.init = { method, body: data };
    else for (const [name, value] of data) source.searchParams.append(name, String(value));
    this.#go(visit, indicatorOf(submitter) ?? indicatorOf(form));
  }

  #popstate(event: PopStateEvent): void {
    // No state: a jump within the page. Another state: somebody else's history.
    if (event.state === null) {
      history.scrollRestoration = "auto";
      return;
    }
    if (!isEntry(event.state)) return;
    const { scrollX: left, scrollY: top } = event.state;
    if (document.querySelector("[f-client-nav]:not([f-client-nav=false])") === null) {
      return location.reload();
    }
    history.scrollRestoration = "manual";
    const url = new URL(location.href);
    this.#go({ url, source: url }, undefined, () => scrollTo({ left, top, behavior: "instant" }));
  }

  async #go(visit: Visit, indicator?: Indicator, after?: () => void): Promise<void> {
    const id = visit.url === undefined ? undefined : ++this.#visit;
    const isCurrent = () => id === undefined || id === this.#visit;
    if (indicator !== undefined) indicator.value = true;
    try {
      await this.#load(visit, isCurrent);
      if (isCurrent()) after?.();
    } catch {
      // Whatever went wrong, a plain page load shows it as the browser does without us.
      if (isCurrent()) loadPage(visit.url);
    } finally {
      if (indicator !== undefined) indicator.value = false;
    }
  }

  async #load(visit: Visit, isCurrent: () => boolean): Promise<void> {
    const source = new URL(visit.source);
    source.searchParams.set(PARTIAL_PARAM, "true");
    const response = await fetch(source, visit.init);
    if (response.redirected && visit.url !== undefined) {
      const target = new URL(response.url);
      target.searchParams.delete(PARTIAL_PARAM);
      visit.url = target;
    }
    if (new URL(response.url).origin !== location.origin) throw new NotPartial();
    if (!response.headers.get("Content-Type")?.startsWith("text/html")) throw new NotPartial();

    const html = this.#parse(await response.text());
    const state = readState(html);
    // Another build's islands would bring a second copy of everything.
    if (state === undefined || state.build !== this.#build) throw new NotPartial();
    const props = await loadIslands(state);
    if (!isCurrent()) return;

    const updates = [...new Reviver(html, props, this.#nonce).partials()];
    if (updates.length === 0) throw new NotPartial();
    if (html.title !== "") document.title = html.title;
    this.#mergeHead(html.head);
    for (const { name, mode, children } of updates) partials.get(name)?.update(mode, children);

    if (visit.url === undefined) return;
    if (visit.url.href !== location.href) history.replaceState(history.state, "", visit.url);
    markLinks(visit.url);
  }

  /** The page's policy holds for what is parsed here too, so the response gets the page's nonce. */
  #parse(text: string): Document {
    const theirs = new RegExp(`id="${STATE_ID}" nonce="(\\w+)"`).exec(text)?.[1];
    const html = theirs === undefined
      ? text
      : text.replaceAll(`nonce="${theirs}"`, `nonce="${this.#nonce}"`);
    return new DOMParser().parseFromString(html, "text/html");
  }

  #mergeHead(head: HTMLHeadElement): void {
    for (const element of [...head.children]) {
      if (element instanceof HTMLMetaElement) {
        if (element.hasAttribute("charset")) continue;
        const existing = findNamesake(element);
        if (existing === null) document.head.append(element);
        else existing.setAttribute("content", element.content);
      } else if (element instanceof HTMLLinkElement && element.rel === "stylesheet") {
        const known = [...document.head.querySelectorAll("link")].some((link) =>
          link.href === element.href
        );
        if (!known) document.head.append(element);
      } else if (element instanceof HTMLStyleElement) {
        const known = [...document.head.querySelectorAll("style")].some((style) =>
          element.id === "" ? style.textContent === element.textContent : style.id === element.id
        );
        if (known) continue;
        const style = document.createElement("style");
        style.id = element.id;
        style.nonce = this.#nonce;
        style.textContent = element.textContent;
        document.head.append(style);
      }
    }
  }
}

function entry(left: number, top: number): PageEntry {
  return { fClientNav: true, scrollX: left, scrollY: top };
}

function isEntry(state: unknown): state is PageEntry {
  return typeof state === "object" && state !== null && "fClientNav" in state;
}

function isEnabled(element: Element): boolean {
  const setting = element.closest("[f-client-nav]");
  return setting !== null && setting.getAttribute("f-client-nav") !== "false";
}

/** Only the fragment differs: nothing to load. */
function isJump(url: URL): boolean {
  return url.hash !== "" && url.href.replace(/#.*$/, "") === location.href.replace(/#.*$/, "");
}

function decodeHash(url: URL): string {
  try {
    return decodeURIComponent(url.hash.slice(1));
  } catch {
    return url.hash.slice(1);
  }
}

function indicatorOf(element: Element | null): Indicator | undefined {
  return element === null ? undefined : Reflect.get(element, "_freshIndicator");
}

function loadPage(url: URL | undefined): void {
  if (url === undefined || url.href === location.href) location.reload();
  else location.assign(url);
}

function markLinks(page: URL): void {
  for (const link of document.querySelectorAll("a")) {
    const ours = link.hasAttribute("data-current") || link.hasAttribute("data-ancestor");
    if (!ours && link.hasAttribute("aria-current")) continue;
    const state = linkState(link.href, page);
    for (const name of ["data-current", "data-ancestor", "aria-current"]) {
      const value = state === undefined ? undefined : linkAttributes(state)[name];
      if (value === undefined) link.removeAttribute(name);
      else link.setAttribute(name, value);
    }
  }
}
