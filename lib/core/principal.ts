/** Who a request is made for. Without tokens, on loopback, that is everyone alike. */
export const EVERYONE = "everyone";
