import { signal } from "@preact/signals";

/** What lies over the page: at most one thing at a time. Written in the browser only. */
export const overlay = signal<"palette" | "help" | undefined>(undefined);
