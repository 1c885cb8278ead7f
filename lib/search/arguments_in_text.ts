/** What files with these endings hold, as a tool's description would say it. */
const FORMATS = new Map(Object.entries({
  bmp: "image",
  csv: "csv table",
  doc: "word document",
  docx: "word document",
  gif: "image",
  htm: "html",
  html: "html",
  ipynb: "notebook",
  jpeg: "image",
  jpg: "image",
  js: "javascript code",
  json: "json",
  md: "markdown",
  mov: "video",
  mp3: "audio",
  mp4: "video",
  odt: "document",
  pdf: "pdf",
  png: "image",
  ppt: "powerpoint presentation",
  pptx: "powerpoint presentation",
  py: "python code",
  sql: "sql",
  svg: "svg image",
  ts: "typescript code",
  txt: "text",
  wav: "audio",
  webp: "image",
  xls: "excel spreadsheet",
  xlsx: "excel spreadsheet",
  xml: "xml",
  yaml: "yaml",
  yml: "yaml",
  zip: "zip archive",
}));

const ADDRESS = /\b(?:https?:\/\/|www\.)[^\s"'<>]{1,2000}/gi;
const PATH =
  /(?<![\w:/\\])(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@%+~-]{1,255}[/\\]){0,32}[\w.@%+~-]{1,255}/g;
const FILE_NAME = /(?<![\w./\\-])[\w-]{1,255}\.([A-Za-z0-9]{2,5})(?![\w/\\-])/g;

/**
 * A task names the very things to work on: `/tmp/q3/taxes.xlsx` asks for a tool that handles files
 * and spreadsheets, and says nothing of taxes. Each such value is replaced by what it is.
 */
export function nameArguments(text: string): string {
  return text
    .replace(ADDRESS, " url ")
    .replace(PATH, (path) => ` file ${formatOf(path)} `)
    .replace(
      FILE_NAME,
      (name, ending: string) =>
        isFileEnding(ending.toLowerCase()) ? ` file ${formatOf(name)} ` : name,
    );
}

function isFileEnding(ending: string): boolean {
  // Node.js and its like are no files.
  return FORMATS.has(ending) && ending !== "js" && ending !== "ts";
}

function formatOf(path: string): string {
  const ending = /\.([A-Za-z0-9]{1,5})\.*$/.exec(path)?.[1]?.toLowerCase();
  if (ending === undefined) return "";
  return `${ending} ${FORMATS.get(ending) ?? ""}`;
}
