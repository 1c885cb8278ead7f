import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

interface CharCountProps {
  /** Of the field that is counted. */
  field: string;
  value: number;
  most: number;
}

/** How many characters a field has, of how many it may. */
export default function CharCount({ field, value, most }: CharCountProps) {
  const count = useSignal(value);
  useEffect(() => {
    const input = document.getElementById(field);
    if (!(input instanceof HTMLTextAreaElement)) return;
    const onInput = () => count.value = input.value.length;
    onInput();
    input.addEventListener("input", onInput);
    return () => input.removeEventListener("input", onInput);
  }, [field]);
  const isOver = count.value > most;
  return (
    <p class={isOver ? "char-count is-over" : "char-count"} id={`${field}-count`}>
      <span>
        {count.value}/{most}
        {isOver ? `, ${count.value - most} too many` : ""}
      </span>
    </p>
  );
}
