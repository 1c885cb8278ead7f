const LIMIT_MS = 5_000;
const LONGEST_PAUSE_MS = 250;

/** Whether another process had the database file to itself at that moment. */
export function isLocked(error: unknown): boolean {
  return error instanceof Error &&
    /database (table |schema )?is (locked|busy)/i.test(error.message);
}

/**
 * Repeats an operation while the database file is locked, for up to five seconds.
 *
 * The pauses are random, or two processes that collided once would go on colliding.
 */
export async function retryLocked<T>(
  operation: () => Promise<T>,
  { limitMs = LIMIT_MS, random = Math.random } = {},
): Promise<T> {
  const end = performance.now() + limitMs;
  for (let attempt = 0;; attempt++) {
    try {
      return await operation();
    } catch (error) {
      if (!isLocked(error) || performance.now() >= end) throw error;
      const ceiling = Math.min(LONGEST_PAUSE_MS, 4 * 2 ** attempt);
      await new Promise((resolve) => setTimeout(resolve, 1 + random() * ceiling));
    }
  }
}
