/** Ends the reason of a server that is tried again by itself; when is its `retryAt`. */
export const TRYING_AGAIN = "trying again soon";
