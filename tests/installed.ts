/** Whether a program is installed and answers. */
export function isInstalled(program: string, ...args: string[]): Promise<boolean> {
  const run = () => new Deno.Command(program, { args, stdin: "null" }).output();
  // Deno throws at once if there is no such program.
  return Promise.try(run).then(({ success }) => success, () => false);
}

/** Whether tests with a program run. In CI they do in any case: there, what cannot run has failed. */
export async function canTry(program: string): Promise<boolean> {
  return Deno.env.has("CI") || await isInstalled(program, "--version");
}
