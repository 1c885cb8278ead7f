import { fileURLToPath, pathToFileURL } from "node:url";

export {
  basename,
  delimiter as DELIMITER,
  dirname,
  extname,
  format,
  isAbsolute,
  join,
  normalize,
  parse,
  relative,
  resolve,
  sep as SEPARATOR,
} from "node:path";

export function fromFileUrl(url: string | URL): string {
  return fileURLToPath(url);
}

export function toFileUrl(path: string): URL {
  return pathToFileURL(path);
}
