import { formatAgo, formatSpan } from "../lib/console/ui/format.ts";

/** A moment in words, with the exact one on hover; the clock island keeps it true. */
export function Ago({ at }: { at: number }) {
  const exact = new Date(at).toISOString();
  return <time dateTime={exact} title={exact} data-clock="ago">{formatAgo(at, Date.now())}</time>;
}

/** How long something has lasted since a moment. */
export function Since({ at }: { at: number }) {
  const exact = new Date(at).toISOString();
  return (
    <time dateTime={exact} title={`Since ${exact}`} data-clock="span">
      {formatSpan(Date.now() - at)}
    </time>
  );
}
