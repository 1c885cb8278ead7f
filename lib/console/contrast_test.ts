import assert from "node:assert/strict";

const css = await Deno.readTextFile(new URL("../../styles/tokens.css", import.meta.url));
const colors = new Map(
  Array.from(
    css.matchAll(/--([\w-]+):\s*light-dark\((#\w{6}), (#\w{6})\)/g),
    ([, name = "", light = "", dark = ""]) => [name, { light, dark }] as const,
  ),
);
colors.set("on-accent", { light: "#ffffff", dark: "#ffffff" });

/** Text and what it stands on; the pairs that pages use. */
const TEXT: [string, string[]][] = [
  ["text", ["canvas", "surface", "rail", "raised", "hover", "pressed", "accent-soft"]],
  ["text-2", ["canvas", "surface", "rail", "raised", "hover", "pressed", "accent-soft"]],
  ["text-3", ["canvas", "surface", "rail", "raised"]],
  ["accent", ["canvas", "surface", "raised", "hover", "accent-soft"]],
  ["ok", ["canvas", "surface", "hover", "raised"]],
  ["warn", ["canvas", "surface", "hover", "raised", "warn-soft"]],
  ["bad", ["canvas", "surface", "hover", "raised"]],
  ["info", ["canvas", "surface", "hover", "raised"]],
  ["on-accent", ["accent-solid", "accent-solid-hover"]],
];

const SHAPES: [string, string[]][] = [
  ["line-strong", ["canvas", "surface"]],
  ["focus", ["canvas", "surface", "rail", "raised", "hover"]],
];

function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

for (const theme of ["light", "dark"] as const) {
  Deno.test(`tokens.css has enough contrast in the ${theme} theme`, () => {
    for (const [pairs, least] of [[TEXT, 4.5], [SHAPES, 3]] as const) {
      for (const [front, grounds] of pairs) {
        for (const ground of grounds) {
          const [a, b] = [colors.get(front)?.[theme], colors.get(ground)?.[theme]];
          assert.ok(a !== undefined && b !== undefined, `${front} or ${ground} is not defined`);
          const ratio = contrast(a, b);
          assert.ok(ratio >= least, `${front} on ${ground}: ${ratio.toFixed(2)}, needs ${least}`);
        }
      }
    }
  });
}
