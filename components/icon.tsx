/** Drawn on a grid of 16, strokes only, so that every icon takes the color of its text. */
const SHAPES = {
  dashboard: "M2.5 2.5h4.5v6h-4.5zM9 2.5h4.5v3.5h-4.5zM9 8h4.5v5.5h-4.5zM2.5 10.5h4.5v3h-4.5z",
  servers: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01M8.5 5h2.5M8.5 11h2.5",
  tools: "M3 13 8.2 7.8M9.9 2.6a3.6 3.6 0 0 0-1.4 4.9l.5.5a3.6 3.6 0 0 0 4.4-1.9l-2.2.4-1.4-1.4z",
  toolsets: "M8 2 14 5 8 8 2 5zM2 8l6 3 6-3M2 11l6 3 6-3",
  optimization: "M2.5 13.5h11M4 11V8.5M7 11V6.5M10 11V4.5M13 11V2.5",
  activity: "M1.5 8h3l2-5 3 10 2-5h3",
  settings: "M2 4.5h6.5M12 4.5h2M2 11.5h2M7.5 11.5H14M10.2 2.8v3.4M5.8 9.8v3.4",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.4 10.4 13.5 13.5",
  sun:
    "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1",
  moon: "M13.3 9.6A5.8 5.8 0 0 1 6.4 2.7 5.8 5.8 0 1 0 13.3 9.6z",
  monitor: "M2 3h12v8H2zM5.5 13.5h5M8 11v2.5",
  panel: "M2.5 3h11v10h-11zM6.5 3v10",
  copy: "M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3",
  check: "M3 8.5 6.5 12 13 4.5",
  close: "M4 4l8 8M12 4l-8 8",
  alert: "M8 2 14.5 13.5h-13zM8 6.5v3.2M8 11.6h.01",
  error: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4",
  info: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM8 7.3v3.6M8 5h.01",
  ready: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM5.2 8.2 7.2 10.2 10.9 6",
  paused: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM6.3 6v4M9.7 6v4",
  lock: "M3.5 7h9v6.5h-9zM5.5 7V4.8a2.5 2.5 0 0 1 5 0V7M8 9.7v1.2",
  pending: "M8 1.8a6.2 6.2 0 1 1-6.2 6.2M8 4.8V8l2.2 1.6",
  chevronRight: "M6 3.5 10.5 8 6 12.5",
  chevronLeft: "M10 3.5 5.5 8 10 12.5",
  chevronUp: "M4 9.8 8 5.8l4 4",
  chevronDown: "M4 6.2l4 4 4-4",
  arrowRight: "M3 8h10M9 4l4 4-4 4",
  more: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  keyboard: "M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M4.5 9.5h7",
  file: "M4 1.8h5l3.5 3.5v8.9H4zM9 1.8v3.5h3.5",
  store:
    "M2.8 4.2c0-1.2 2.3-2 5.2-2s5.2.8 5.2 2-2.3 2-5.2 2-5.2-.8-5.2-2zM2.8 4.2v7.6c0 1.2 2.3 2 5.2 2s5.2-.8 5.2-2V4.2M2.8 8c0 1.2 2.3 2 5.2 2s5.2-.8 5.2-2",
  demo:
    "M6 1.8h4M6.8 1.8v4.4L2.9 13a.8.8 0 0 0 .7 1.2h8.8a.8.8 0 0 0 .7-1.2L9.2 6.2V1.8M4.8 10h6.4",
  unplugged:
    "M1.8 1.8l12.4 12.4M5.3 5.3 3.2 7.4a3.8 3.8 0 0 0 5.4 5.4l2.1-2.1M8.6 4.1l.7-.7a3.8 3.8 0 0 1 5.4 0",
  compass: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM10.8 5.2 9.2 9.2 5.2 10.8 6.8 6.8z",
  refresh: "M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 1.8v3h-3",
} as const;

export type IconName = keyof typeof SHAPES;

export function isIconName(name: string): name is IconName {
  return Object.hasOwn(SHAPES, name);
}

/** An icon is an ornament beside a word, unless it is given a label of its own. */
export function Icon(
  { name, size = 16, label }: { name: IconName; size?: number; label?: string },
) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      {...(label === undefined ? { "aria-hidden": "true" } : { role: "img", "aria-label": label })}
    >
      <path d={SHAPES[name]} />
    </svg>
  );
}

/** The product's mark: a crate that is also a Q. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg class="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect class="mark-field" width="32" height="32" rx="8" />
      <path
        class="mark-line"
        d="M16 7.5 23.5 11.75V20.25L16 24.5 8.5 20.25V11.75ZM16 16 24.5 25.5"
      />
    </svg>
  );
}
