type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/**
 * Notes what was entered before the page wakes, which sets fields to what the server wrote, and gives
 * back what enters it again.
 */
export function keepInput(root: ParentNode): () => void {
  const fields = [...root.querySelectorAll<Field>("input, textarea, select")];
  const entered = fields.flatMap((field) => enteredIn(field) ?? []);
  return () => entered.forEach((enter) => enter());
}

/** What enters it again; undefined where nothing was. */
function enteredIn(field: Field): (() => void) | undefined {
  if (field instanceof HTMLSelectElement) {
    const options = [...field.options];
    const served = options.find(({ defaultSelected }) => defaultSelected) ?? options[0];
    const { selectedIndex } = field;
    if (field.multiple || options[selectedIndex] === served || !isByHand(field)) return undefined;
    return () => {
      field.selectedIndex = selectedIndex;
      tell(field, "input", "change");
    };
  }
  if (field.type === "checkbox" || field.type === "radio") {
    const box = field as HTMLInputElement;
    const { checked } = box;
    if (checked === box.defaultChecked || !isByHand(box)) return undefined;
    return () => {
      box.checked = checked;
      tell(box, "input", "change");
    };
  }
  const { value, selectionStart, selectionEnd } = field;
  const isInUse = field === document.activeElement;
  if (field.type === "file" || value === field.defaultValue) return undefined;
  return () => {
    field.value = value;
    if (isInUse && selectionStart !== null) field.setSelectionRange(selectionStart, selectionEnd);
    tell(field, "input");
  };
}

/**
 * Whether somebody changed a box or a choice, which may do something. Browsers put back what was there
 * when a page is loaded anew or come back to: then only the field in use surely is somebody's doing.
 */
function isByHand(field: Field): boolean {
  const [load] = performance.getEntriesByType("navigation");
  const isFirst = load instanceof PerformanceNavigationTiming && load.type === "navigate";
  return isFirst || field === document.activeElement;
}

function tell(field: Field, ...events: string[]): void {
  for (const name of events) field.dispatchEvent(new Event(name, { bubbles: true }));
}
