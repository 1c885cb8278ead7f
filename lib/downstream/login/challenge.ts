/** What a server says of the way to be let in (RFC 6750, RFC 9728). */
export interface Challenge {
  /** Where its metadata is. */
  resourceMetadata?: string;
  /** The rights that it wants, separated by spaces. */
  scope?: string;
  error?: string;
}

const NAMES = { resourceMetadata: "resource_metadata", scope: "scope", error: "error" } as const;

/** Reads a `WWW-Authenticate` header; what is not there or not understood is left out. */
export function readChallenge(header: string | null): Challenge {
  const challenge: Challenge = {};
  if (header === null || !/(?:^|,)\s*Bearer\b/i.test(header)) return challenge;
  for (const [key, name] of Object.entries(NAMES)) {
    const found = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]{1,2000})"|([^\\s",]{1,2000}))`, "i")
      .exec(header);
    const value = found?.[1] ?? found?.[2];
    if (value !== undefined) challenge[key as keyof Challenge] = value;
  }
  return challenge;
}
