import { asset } from "fresh/runtime";
import { define } from "../lib/console/define.ts";
import { inertString } from "../lib/console/ui/format.ts";

export default define.page(function App({ Component, state }) {
  // It may hold a name that comes from a server.
  const title = state.title === undefined
    ? "Quartermaster"
    : `${inertString(state.title)} · Quartermaster`;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <link rel="icon" href={asset("/favicon.svg")} type="image/svg+xml" />
        <link rel="stylesheet" href={asset("/console.css")} />
        <script src={asset("/boot.js")} />
      </head>
      <body f-client-nav>
        <Component />
      </body>
    </html>
  );
});
