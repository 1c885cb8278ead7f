/** A share of a whole, drawn; the number stands beside it. */
export function Bar({ share, width = 48 }: { share: number; width?: number }) {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return (
    <svg class="bar" width={width} height="6" viewBox={`0 0 ${width} 6`} aria-hidden="true">
      <rect class="bar-track" width={width} height="6" rx="3" />
      <rect class="bar-fill" width={filled} height="6" rx="3" />
    </svg>
  );
}
