import { isLoopback } from "../../core/loopback.ts";
import { mayBeThisMachine } from "../remote/address_guard.ts";
import { loginError, quoted } from "./login_error.ts";

/**
 * An address that a login may use: https, or http on this machine. Anything else would send
 * credentials in the clear, or have a browser run what a server wrote (`javascript:`). Only one who
 * is on this machine, `near`, may name others here: else a server could have us reach into it.
 */
export function safeUrl(text: string, what: string, near?: URL): URL {
  const url = URL.parse(text);
  if (url === null) throw loginError(`${what} is no address: ${quoted(text)}`);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw loginError(`${what} is neither https nor http: ${quoted(text)}. It is not opened`);
  }
  if (near !== undefined && mayBeThisMachine(url.hostname) && !isLoopback(near.hostname)) {
    throw loginError(`${what} is on this machine, and ${near.host} is not: it is not asked`);
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw loginError(
      `${what} is not https: ${quoted(url.origin)}. What is sent there could be read on the way`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw loginError(`${what} has a name or password in it, which hides where it leads`);
  }
  return url;
}
