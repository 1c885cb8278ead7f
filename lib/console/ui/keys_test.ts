import assert from "node:assert/strict";
import { GoKeys, isPaletteChord, isShortcut, type KeyPress } from "./keys.ts";
import { PAGES } from "./pages.ts";

function press(change: Partial<KeyPress>): KeyPress {
  return {
    key: "s",
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    isComposing: false,
    target: { tagName: "BODY" },
    ...change,
  };
}

Deno.test("isShortcut() never fires while somebody types", () => {
  for (
    const target of [
      { tagName: "INPUT", type: "search" },
      { tagName: "input" },
      { tagName: "TEXTAREA" },
      { tagName: "SELECT" },
      { tagName: "DIV", isContentEditable: true },
    ]
  ) assert.equal(isShortcut(press({ target })), false, JSON.stringify(target));
  assert.equal(isShortcut(press({ isComposing: true })), false);
});

Deno.test("isShortcut() takes single keys from anywhere else", () => {
  for (
    const target of [
      { tagName: "BODY" },
      { tagName: "A" },
      { tagName: "INPUT", type: "checkbox" },
      null,
    ]
  ) {
    assert.equal(isShortcut(press({ target })), true, JSON.stringify(target));
  }
  assert.equal(isShortcut(press({ key: "?" })), true);
  assert.equal(isShortcut(press({ key: "Enter" })), false);
});

Deno.test("isShortcut() leaves combinations to the browser", () => {
  for (const change of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) {
    assert.equal(isShortcut(press(change)), false);
  }
});

Deno.test("GoKeys.press() takes g, then the letter of a page, and nothing that comes late", () => {
  const keys = new GoKeys(PAGES);
  const go = (key: string, now: number) => {
    const place = keys.press(key, now);
    return typeof place === "object" ? place.path : place;
  };
  assert.equal(go("s", 0), undefined);
  assert.equal(go("g", 0), "waiting");
  assert.equal(go("s", 100), "/servers");
  assert.equal(go("s", 200), undefined);
  assert.equal(go("g", 1_000), "waiting");
  assert.equal(go("d", 9_000), undefined);
  assert.equal(go("g", 9_100), "waiting");
  assert.equal(go("x", 9_200), undefined);
  assert.equal(go("d", 9_300), undefined);
  assert.equal(new Set(PAGES.map((page) => page.go)).size, PAGES.length);
});

Deno.test("PAGES: no letter opens one page alone and another after g", () => {
  for (const { path, go } of PAGES) {
    const alone = PAGES.find(({ key }) => key === go);
    assert.ok(alone === undefined || alone.path === path, `g ${go}: ${path}`);
  }
});

Deno.test("isPaletteChord() is Ctrl+K or Command+K, also in a field", () => {
  const target = { tagName: "INPUT", type: "text" };
  assert.ok(isPaletteChord(press({ key: "k", ctrlKey: true, target })));
  assert.ok(isPaletteChord(press({ key: "K", metaKey: true })));
  assert.ok(!isPaletteChord(press({ key: "k" })));
  assert.ok(!isPaletteChord(press({ key: "k", ctrlKey: true, altKey: true })));
});
