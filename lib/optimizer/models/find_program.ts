import { delimiter, join, resolve } from "node:path";

/** Where a program is that is started by this name; undefined where it is not found. */
export async function findProgram(
  command: string,
  { PATH = "", PATHEXT }: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const isPath = /[/\\]/.test(command);
  const places = isPath
    ? [resolve(command)]
    : PATH.split(delimiter).filter((folder) => folder !== "").map((folder) =>
      join(folder, command)
    );
  const ends = Deno.build.os === "windows"
    ? ["", ...(PATHEXT ?? ".EXE;.CMD;.BAT").split(";")]
    : [""];
  for (const file of places.flatMap((place) => ends.map((end) => place + end))) {
    const info = await Deno.stat(file).catch(() => undefined);
    if (info?.isFile && (info.mode === null || (info.mode & 0o111) !== 0)) return file;
  }
}
