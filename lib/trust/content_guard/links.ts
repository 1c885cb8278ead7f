/** Where a link of Markdown or an image of HTML begins to be one with an address. */
export const LINK_ANCHORS = ["](https:", "](http:/", "](<http", "]: http", "<img src"];

/** The quotes of an attribute are escaped in the text of JSON. */
const URL_IN =
  /(?:\]\(<?|\]:\s|<img src\s?=\s?\\?["']?)(https?:\/\/[^\s"'<>)\\]{1,2000})(?:[^\n)\\]{0,80})/iy;
/** A parameter whose value is still to be filled in, by a model that reads the text. */
const TO_FILL =
  /[?&/#][\w.-]{0,40}=(?:\{|%7B%7B|%3C|\[|%5B|\$\{|<)|[?&][\w.-]{1,40}=(?:(?:the_|your_|user_|my_|all_)?(?:SECRETS?|DATA|PASSWORDS?|API_?KEYS?|CONVERSATION|HISTORY|CHAT\w*|CONTEXT|SUMMARY|EMAILS?|EXFIL\w*|STOLEN\w*|INSERT\w*|ENCODED\w*|BASE64\w*|CREDENTIALS?|SYSTEM_?PROMPT|CONTENTS?|USER_?DATA|PRIVATE\w*|LEAK\w*|INFO)|\w*(?:_HERE|_DATA|_SECRETS?))\b/;
/** A long value under a name for text; pictures that a page shows have none. */
const CARRIES =
  /[?&](?:q|d|data|payload|content|text|msg|message|body|c|ctx|context|conversation|chat|history|secret|leak|exfil|info|log|note|summary|dump|stolen|x)=[A-Za-z0-9+/_=%-]{40,}/i;
/** Hosts of badges and pictures, whose addresses say what to draw. */
const DRAWS =
  /^https?:\/\/(?:[\w-]+\.)*(?:shields\.io|badgen\.net|badge\.fury\.io|codecov\.io|github\.com|githubusercontent\.com|gitlab\.com|mermaid\.ink|quickchart\.io|contrib\.rocks|star-history\.com|vercel\.app|vercel\.com|stackblitz\.com|codesandbox\.io|typescriptlang\.org|opencollective\.com|google\.com|npmjs\.com|latex\.codecogs\.com|plantuml\.com|twitter\.com|x\.com|vscode\.dev|cursor\.com|cursor\.sh|simplex\.chat)\//i;

/** What makes the link at a place carry data out, and where its address is. */
export function leaksData(
  text: string,
  at: number,
): { why: string; start: number; end: number } | undefined {
  URL_IN.lastIndex = at;
  const match = URL_IN.exec(text);
  const url = match?.[1];
  // Nearly all addresses have no parameters.
  if (!match || url === undefined || !/[?&=#]/.test(url) || DRAWS.test(url)) return undefined;
  const start = at + match[0].indexOf(url);
  const isOpen = TO_FILL.test(text.slice(start, at + match[0].length));
  if (!isOpen && !CARRIES.test(url)) return undefined;
  return {
    why: isOpen
      ? "is a link whose address has a place for data"
      : "is a link whose address carries data",
    start,
    end: start + url.length,
  };
}
