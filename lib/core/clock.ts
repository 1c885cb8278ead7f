let latest = 0;

/**
 * The time for everything that expires: a clock that is set back makes nothing valid again, until the
 * gateway is restarted.
 */
export function forwardNow(): number {
  return latest = Math.max(latest, Date.now());
}
