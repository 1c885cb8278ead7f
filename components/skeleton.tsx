/** Stands where rows are about to be, in their size, so that nothing jumps. */
export function Skeleton({ rows = 3, label }: { rows?: number; label: string }) {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">{label}</span>
      {Array.from({ length: rows }, (_, index) => <span key={index} class="skeleton-row" />)}
    </div>
  );
}
