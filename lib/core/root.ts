/** Where the product lies: two folders above its sources, one above the built program. */
export const ROOT = new URL(
  /\/_fresh\/[^/]+\.js$/.test(import.meta.url) ? "../" : "../../",
  import.meta.url,
);
