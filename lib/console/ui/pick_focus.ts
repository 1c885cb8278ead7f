/** The boxes that can be ticked in a list, top to bottom. */
const BOXES = "input[type=checkbox]";

/** What a dragged tool's name is carried as, so that no other text can be dropped in its place. */
const TOOL_DRAG = "application/x-quartermaster-tool";

interface KeyEvent {
  preventDefault(): void;
}

/** Goes from a search field into the list that it fills. */
export function stepInto(event: KeyEvent, list: string): void {
  const box = document.querySelector<HTMLElement>(`${list} ${BOXES}`);
  if (box === null) return;
  event.preventDefault();
  box.focus();
}

/** Up and down between the boxes of a list, as far as it goes. */
export function stepBetween(event: KeyEvent & { key: string }, box: HTMLElement): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const list = box.closest(".pick-list");
  if (step === 0 || list === null) return;
  event.preventDefault();
  const boxes = [...list.querySelectorAll<HTMLElement>(BOXES)];
  boxes[boxes.indexOf(box) + step]?.focus();
}

/** The name of the tool that is dragged here, if it is one. */
export function draggedTool(event: DragEvent): string | undefined {
  return event.dataTransfer?.getData(TOOL_DRAG) || undefined;
}

/** Lets a tool be dropped here. */
export function allowDrop(event: DragEvent): boolean {
  if (!event.dataTransfer?.types.includes(TOOL_DRAG)) return false;
  event.preventDefault();
  event.dataTransfer.dropEffect = "move";
  return true;
}

export function startDrag(event: DragEvent, name: string): void {
  event.dataTransfer?.setData(TOOL_DRAG, name);
  if (event.dataTransfer) event.dataTransfer.effectAllowed = "move";
}
