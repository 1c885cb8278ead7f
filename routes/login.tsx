import { page } from "fresh";
import { Field, FormFailure, PostForm } from "../components/forms.tsx";
import { Mark } from "../components/icon.tsx";
import { define } from "../lib/console/define.ts";
import { localPath } from "../lib/console/ui/pages.ts";
import {
  type ConsoleLoginPage,
  consoleLoginPage,
  logIn,
  MAKE_TOKEN,
} from "../lib/console/login.ts";
import { GatewayError } from "../lib/core/errors.ts";
import { readForm } from "../lib/http/request_body.ts";
import { peerOf } from "../lib/http/request_origin.ts";

const MAX_FORM = 16_384;
const HINT = (
  <>
    To create a token, run this on the gateway's machine: <code>{MAKE_TOKEN}</code>
  </>
);

export const handler = define.handlers<ConsoleLoginPage>("anyone", {
  GET(ctx) {
    ctx.state.title = "Log in";
    const then = localPath(ctx.url.searchParams.get("then"));
    return page(consoleLoginPage(ctx.state.gateway, ctx.req, then));
  },
  async POST(ctx) {
    ctx.state.title = "Log in";
    const form = await readForm(ctx.req, MAX_FORM);
    const then = localPath(form.get("then"));
    const place = peerOf(ctx.info);
    try {
      return await logIn(ctx.state.gateway, { token: form.get("token") ?? "", then, place });
    } catch (error) {
      const status = error instanceof GatewayError ? error.httpStatus : 500;
      // 401 would have browsers ask for a name and a password.
      const seconds = error instanceof GatewayError ? error.details.retryAfterSeconds : undefined;
      return page(consoleLoginPage(ctx.state.gateway, ctx.req, then, error), {
        status: status === 401 ? 403 : status,
        ...(seconds === undefined ? {} : { headers: { "retry-after": String(seconds) } }),
      });
    }
  },
});

export default define.page<typeof handler>(function Login({ data }) {
  const { then, isOpen, isGuest, error } = data;
  return (
    <main class="login" id="main">
      <PostForm action="/login" class="login-card">
        <h1>
          <Mark /> Quartermaster
        </h1>
        {isOpen
          ? (
            <p>
              No token is needed on this machine:{" "}
              <a href="/" class="login-onward">go to the dashboard</a>. If you log in with one, you
              can see and do only what it allows.
            </p>
          )
          : isGuest
          ? (
            <p>
              Requests through a proxy need a token. To log in here, start the gateway with{" "}
              <code>--public-url</code> and the proxy's URL.
            </p>
          )
          : <p>This gateway requires a token.</p>}
        {error === undefined ? null : <FormFailure error={error} />}
        <Field id="token" label="Token" hint={HINT}>
          <input
            id="token"
            class="input mono"
            type="password"
            name="token"
            required
            autofocus
            autocomplete="current-password"
            spellcheck={false}
            aria-describedby="token-hint"
          />
        </Field>
        <input type="hidden" name="then" value={then} />
        <button type="submit" class={isOpen ? "button" : "button button-primary"}>Log in</button>
      </PostForm>
    </main>
  );
});
