import type { ServerStatus } from "../lib/core/server.ts";
import { loginPath } from "../lib/console/ui/login_paths.ts";
import { Icon } from "./icon.tsx";

/** On a server's page: the way to log in where the server waits for that, and to a login there is. */
export function ServerLogin({ server, hasLogin }: { server: ServerStatus; hasLogin: boolean }) {
  if (server.type !== "http" && server.type !== "sse") return null;
  const href = loginPath(server.name);
  if (server.state !== "needs_login") {
    if (!hasLogin) return null;
    return (
      <p class="small muted">
        <a href={href}>Login</a> to this server: who gave it, and how to end it.
      </p>
    );
  }
  return (
    <div class="notice tone-warn">
      <Icon name="lock" size={14} />
      <div>
        <p class="strong">This server asks for a login.</p>
        <p>Its tools work once you have logged in where it says.</p>
        <p>
          <a class="button button-primary" href={href}>Log in</a>
        </p>
      </div>
    </div>
  );
}
