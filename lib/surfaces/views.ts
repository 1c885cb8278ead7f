/** What the default door can show, chosen with `?expose=`. */
export const VIEWS = ["default", "discovery", "index", "optimizer", "toolset", "all"] as const;
export type View = (typeof VIEWS)[number];

export function isView(text: string): text is View {
  return VIEWS.some((view) => view === text);
}
