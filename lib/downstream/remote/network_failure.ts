const WORDS: [RegExp, string][] = [
  [/connection refused/i, "the connection was refused"],
  // The last is what a tunnel says of it.
  [/dns error|failed to lookup|not known|: host unreachable/i, "its name was not found"],
  [/corrupt message|tls|handshake/i, "it does not speak TLS as expected (is it http, not https?)"],
  [/invalid HTTP|parse|h2 protocol/i, "it does not speak HTTP"],
  [/reset by peer|broken pipe/i, "the connection was reset"],
  [/closed before|reading a body|unexpected eof|end of file/i, "the connection broke off"],
  [/timed out/i, "the connection timed out"],
  [/unreachable/i, "the network cannot reach it"],
  [/are blocked/i, "the platform refuses to connect to this port"],
  [/requires net access/i, "this process has no permission to connect to it"],
];

/**
 * Why nothing came, in plain words. The platform's own text names the whole URL, and with it what
 * may be a secret, so none of it is passed on.
 */
export function networkFailureWords(error: unknown): string {
  const text = textOf(error);
  const certificate = /invalid peer certificate: (\w+)/i.exec(text);
  if (certificate) return `its TLS certificate was not accepted (${certificate[1]})`;
  return WORDS.find(([pattern]) => pattern.test(text))?.[1] ?? "the request failed";
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  // The URL could hold any word that is looked for.
  const own = error.message.replaceAll(/\bhttps?:\/\/\S*/g, "");
  return `${own} ${textOf(error.cause)}`;
}
