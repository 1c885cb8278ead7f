/** Whether whole matrices are tried, as `deno task soak` does, and not only pairs of their values. */
export const IS_FULL = Deno.env.get("QUARTERMASTER_TEST_FULL") === "1";
