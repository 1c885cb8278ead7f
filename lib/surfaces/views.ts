/** What the default door can show, chosen with `?expose=`. */
export const VIEWS = ["default", "discovery", "index", "optimizer", "toolset", "all"] as const;
export type View = (typeof VIEWS)[number];

export function isView(text: string): text is View {
  return VIEWS.some((view) => view === text);
}

/** The keys of doors that show what is equipped: two views of the default one. */
export const SHOWS_EQUIPPED = /^mcp\?(?:default|toolset)\b/;
