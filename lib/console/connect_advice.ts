import type { FormError } from "./form_error.ts";

/** What a failed try to connect says, and what helps most often. */
const ADVICE: [pattern: RegExp, steps: string[]][] = [
  [/is not on PATH/, [
    "Install the program, or write its whole path; `which NAME` in a terminal shows it",
    "A gateway that was started elsewhere may have another PATH than your terminal",
  ]],
  [/no such file|does not exist|not found.*folder|no folder/i, [
    "Correct the path; write it whole, from the root on",
  ]],
  [/permission denied|may not be/i, ["Make the file executable with `chmod +x`"]],
  [/cannot reach .*(refused|connect)/i, [
    "Start the server, and check the port in the address",
  ]],
  [/cannot reach .*(dns|resolve|lookup|name)/i, ["Check the host in the address for typos"]],
  [/certificate|tls/i, ["Use the name that the server's certificate is for"]],
  [/HTTP 40[13]/, ["Write the header that the server wants, such as Authorization: Bearer …"]],
  [/HTTP 40[45]/, ["Check the path of the address: most servers answer at /mcp, some at /sse"]],
  [/no answer in MCP|not.*JSON|text\/html/i, [
    "Check the path of the address: this is a web page, not an MCP server",
  ]],
  [/did not (?:shake hands|answer)/, [
    "Run the command in a terminal: it should wait there without writing anything",
    "The first start of a package may take long: try again",
  ]],
  [/exited|ended|closed its|exit code/i, [
    "Read below what it wrote; most often an argument or a variable is missing",
  ]],
];

/** The same error with steps that fit it, where it is one of a common kind. */
export function withAdvice(error: FormError): FormError {
  if (error.code !== "SERVER_DISCONNECTED") return error;
  const steps = ADVICE.find(([pattern]) => pattern.test(error.message))?.[1];
  if (!steps) return error;
  return { ...error, steps: [...steps, "Nothing was stored: correct it and try again"] };
}
