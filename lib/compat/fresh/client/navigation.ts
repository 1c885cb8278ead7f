import { linkAttributes } from "../attributes.ts";
import { getBuildId } from "../build_id.ts";
import { STATE_ID } from "../markers.ts";
import { pageNonce, putInHead } from "./head.ts";
import { partials } from "./partial_host.ts";
import { Reviver } from "./revive.ts";
import { loadIslands, readState } from "./state.ts";

const PARTIAL_PARAM = "fresh-partial";

interface Visit {
  /** What the address bar shows afterwards; absent when it stays. */
  url?: URL;
  /** Where the content comes from. */
  source: URL;
  init?: RequestInit;
  indicator?: { value: boolean } | undefined;
  after?: () => void;
}

/** How many times the address has changed; a response that comes after the next one is late. */
let visits = 0;

/** Client-side navigation: links, forms, buttons and the history, where f-client-nav is on. */
export function startNavigation(): void {
  if (history.state === null) history.replaceState(entry(scrollX, scrollY), "");
  document.addEventListener("click", onClick);
  document.addEventListener("submit", onSubmit);
  addEventListener("popstate", onPopState);
}

function onClick(event: MouseEvent): void {
  if (!(event.target instanceof Element) || event.defaultPrevented || event.button !== 0) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const element = event.target.closest("a") ?? event.target.closest("button");
  if (element === null || !isEnabled(element)) return;
  const partial = element.getAttribute("f-partial");
  const indicator = indicatorOf(element);

  if (element instanceof HTMLButtonElement) {
    if (partial === null || (element.type === "submit" && element.form !== null)) return;
    return void go({ source: new URL(partial, location.href), indicator });
  }
  if (!(element instanceof HTMLAnchorElement) || element.href === "") return;
  if (element.origin !== location.origin || element.hasAttribute("download")) return;
  if (!/^(_self)?$/.test(element.target) || element.getAttribute("href")?.startsWith("#")) return;
  const url = new URL(element.href);
  const page = (href: string) => href.split("#", 1)[0];
  if (url.hash !== "" && page(url.href) === page(location.href)) return;

  event.preventDefault();
  if (url.href !== location.href) {
    history.replaceState(entry(scrollX, scrollY), "");
    history.pushState(entry(0, 0), "", url);
  }
  const after = () => {
    const target = document.getElementById(decodeURIComponent(url.hash.slice(1)));
    if (target === null) scrollTo({ top: 0, left: 0, behavior: "instant" });
    else target.scrollIntoView({ behavior: "instant" });
  };
  void go({ url, source: new URL(partial ?? url, location.href), indicator, after });
}

function onSubmit(event: SubmitEvent): void {
  const { target: form, submitter } = event;
  if (!(form instanceof HTMLFormElement) || event.defaultPrevented || !isEnabled(form)) return;
  if (submitter !== null && !isEnabled(submitter)) return;
  const method = (submitter?.getAttribute("formmethod") ?? form.method).toLowerCase();
  // `form.action` cannot tell: it is the page's own address where none is set.
  const action = submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  const partial = submitter?.getAttribute("f-partial") ?? submitter?.getAttribute("formaction") ??
    form.getAttribute("f-partial") ?? action;
  if (partial === null || !/^(get|post)$/.test(method)) return;
  const url = new URL(action ?? "", location.href);
  const source = new URL(partial, location.href);
  if (source.origin !== location.origin || url.origin !== location.origin) return;

  event.preventDefault();
  const body = new FormData(form, submitter);
  const indicator = indicatorOf(submitter) ?? indicatorOf(form);
  if (method === "post") return void go({ url, source, indicator, init: { method, body } });
  for (const [name, value] of body) source.searchParams.append(name, String(value));
  void go({ url, source, indicator });
}

function onPopState({ state }: PopStateEvent): void {
  // No state: a jump within the page. Another state: somebody else's history.
  if (state === null) history.scrollRestoration = "auto";
  if (!state?.fClientNav) return;
  if (document.querySelector("[f-client-nav]:not([f-client-nav=false])") === null) {
    return location.reload();
  }
  history.scrollRestoration = "manual";
  const url = new URL(location.href);
  const after = () => scrollTo({ left: state.scrollX, top: state.scrollY, behavior: "instant" });
  void go({ url, source: url, after });
}

async function go({ url, source, init, indicator, after }: Visit): Promise<void> {
  const visit = url === undefined ? visits : ++visits;
  const isLate = () => url !== undefined && visit !== visits;
  if (indicator !== undefined) indicator.value = true;
  try {
    const from = new URL(source);
    from.searchParams.set(PARTIAL_PARAM, "true");
    const response = await fetch(from, init);
    if (response.redirected && url !== undefined) {
      url = new URL(response.url);
      url.searchParams.delete(PARTIAL_PARAM);
    }
    const update = await read(response);
    if (isLate()) return;
    update();
    // Preact renders in a microtask; links and scrolling need what it rendered.
    await Promise.resolve();
    if (url !== undefined) {
      if (url.href !== location.href) history.replaceState(history.state, "", url);
      markLinks(url);
    }
    after?.();
  } catch (error) {
    if (isLate()) return;
    // As on the real package, whatever else went wrong is the page's to tell.
    if (!(error instanceof NeedsLoad)) throw error;
    if (url === undefined || url.href === location.href) location.reload();
    else location.assign(url);
  } finally {
    if (indicator !== undefined) indicator.value = false;
  }
}

/** The browser has to load it: a page of another build, or one without partials after a redirect. */
class NeedsLoad extends Error {}

/** Prepares a response; throws when this page cannot show it. */
async function read(response: Response): Promise<() => void> {
  const isHtml = response.headers.get("Content-Type")?.startsWith("text/html");
  if (new URL(response.url).origin !== location.origin || !isHtml) throw new Error("not a page");
  const noPartials = new (response.redirected ? NeedsLoad : Error)("no partials");
  const text = await response.text();
  const before = `id="${STATE_ID}" nonce="`;
  const at = text.lastIndexOf(before);
  if (at === -1) throw noPartials;
  const nonce = text.slice(at + before.length).split('"', 1)[0] ?? "";
  // The page's policy holds for what is parsed here too, so the response gets the page's nonce.
  const html = new DOMParser().parseFromString(text.replaceAll(nonce, pageNonce()), "text/html");
  const state = readState(html);
  // Another build's islands would bring a second copy of everything.
  if (state?.build !== getBuildId()) throw new NeedsLoad();
  const updates = new Reviver(html, await loadIslands(state)).partials();
  if (updates.length === 0) throw noPartials;
  return () => {
    for (const element of html.head.children) {
      if (!element.matches("script, link:not([rel=stylesheet])")) putInHead(element);
    }
    for (const update of updates) partials.get(update.name)?.update(update);
  };
}

function entry(scrollX: number, scrollY: number) {
  return { fClientNav: true, scrollX, scrollY };
}

function isEnabled(element: Element): boolean {
  return element.closest("[f-client-nav]")?.matches("[f-client-nav=false]") === false;
}

function indicatorOf(element: Element | null): Visit["indicator"] {
  return element === null ? undefined : Reflect.get(element, "_freshIndicator");
}

function markLinks(page: URL): void {
  for (const link of document.querySelectorAll("a")) {
    // Where only aria-current is set, the app has set it.
    if (!link.matches("[data-current], [data-ancestor], :not([aria-current])")) continue;
    const attributes = linkAttributes(link.href, page);
    for (const name of ["data-current", "data-ancestor", "aria-current"]) {
      if (name in attributes) link.setAttribute(name, attributes[name] ?? "");
      else link.removeAttribute(name);
    }
  }
}
