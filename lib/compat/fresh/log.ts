/** Says something to whoever runs the process; never on stdout, which may carry a protocol. */
export function log(message: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${message}\n`));
}
