import { signal } from "@preact/signals";

export interface Toast {
  id: number;
  kind: "success" | "info" | "error";
  title: string;
  detail?: string;
}

const MAX_SHOWN = 4;

/** What is shown now, oldest first; written in the browser only. */
export const toasts = signal<Toast[]>([]);
let lastId = 0;

/** Says something that needs no decision. An error stays until it is dismissed. */
export function toast(kind: Toast["kind"], title: string, detail?: string): number {
  const id = ++lastId;
  const repeated = toasts.peek().filter((old) => old.kind === kind && old.title === title);
  const others = toasts.peek().filter((old) => !repeated.includes(old));
  const next = { id, kind, title, ...(detail === undefined ? {} : { detail }) };
  toasts.value = [...others, next].slice(-MAX_SHOWN);
  return id;
}

export function dismissToast(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}
