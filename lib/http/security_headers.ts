/** Each directive names the attack it blocks; lib/http adds the nonce for what the app renders. */
export const CSP_DIRECTIVES: string[] = [
  "default-src 'self'", // anything not named below comes from this gateway or not at all
  "script-src 'self' 'unsafe-inline'", // replaced by a nonce: injected scripts never run
  "style-src 'self' 'unsafe-inline'", // replaced by a nonce: injected styles cannot exfiltrate
  "img-src 'self' data:", // no tracking pixels from tool texts
  "connect-src 'self'", // injected code cannot phone home
  "object-src 'none'", // no plugins
  "base-uri 'none'", // relative links cannot be redirected
  "form-action 'self'", // forms cannot be pointed elsewhere
  "frame-ancestors 'none'", // no clickjacking
];

const NO_PAGE = "default-src 'none'; frame-ancestors 'none'";

/** Headers that every response carries, pages and doors alike. */
export function secureHeaders(response: Response, isHttps: boolean): Response {
  const { headers } = response;
  headers.set("x-content-type-options", "nosniff");
  // Not no-referrer: browsers then send `Origin: null` with our own forms, which the guard refuses.
  headers.set("referrer-policy", "same-origin");
  headers.set("cross-origin-opener-policy", "same-origin");
  headers.set("cross-origin-resource-policy", "same-origin");
  headers.set("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()");
  const policy = headers.get("content-security-policy");
  const isPage = headers.get("content-type")?.startsWith("text/html") ?? false;
  if (!isPage || policy === null) {
    headers.set("content-security-policy", NO_PAGE);
  } else if (!isHttps) {
    // On plain HTTP beyond loopback it would break every asset of the console.
    headers.set("content-security-policy", policy.replace(/;\s*upgrade-insecure-requests/, ""));
  }
  return response;
}
