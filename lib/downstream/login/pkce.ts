/** A text that nobody can guess. */
export function randomText(): string {
  return crypto.getRandomValues(new Uint8Array(32))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/** What is shown of a verifier before it is used (RFC 7636, S256). */
export async function challengeOf(verifier: string): Promise<string> {
  return new Uint8Array(await sha256(verifier))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Stands for a state wherever that itself must not be kept or shown. */
export async function attemptId(state: string): Promise<string> {
  return new Uint8Array(await sha256(state)).toHex();
}

function sha256(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}
