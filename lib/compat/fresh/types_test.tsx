import { type Context, createDefine, HttpError, page, type PageProps } from "fresh";
import assert from "node:assert/strict";

interface State {
  user: string;
}

const define = createDefine<State>();

Deno.test("define infers a page's data from its handlers", () => {
  const handler = define.handlers({
    GET(ctx) {
      const user: string = ctx.state.user;
      return page({ user, count: 1 });
    },
    POST: () => new Response(),
  });
  const Page = define.page<typeof handler>(({ data, state }) => {
    const count: number = data.count;
    // @ts-expect-error: there is no such property
    data.nothing;
    return <p>{count} {state.user}</p>;
  });
  const one = define.handlers((ctx) => page({ path: ctx.url.pathname }));
  define.page<typeof one>(({ data }) => <p>{data.path.length}</p>);
  assert.equal(typeof Page, "function");
});

Deno.test("the types of props, context and errors say what they hold", () => {
  const show = ({ data, state }: PageProps<{ n: number }, State>): string =>
    data.n.toFixed() + state.user;
  const read = (ctx: Context<State>): string => ctx.state.user + ctx.params.id?.length;
  define.layout(({ Component, state }) => (
    <div title={state.user}>
      <Component />
    </div>
  ));
  define.middleware([(ctx) => ctx.next()]);
  define.page(async ({ url }) => await Promise.resolve(<p>{url.href}</p>));
  // @ts-expect-error: an error has a status of 400 or more
  new HttpError(200);
  assert.equal(typeof show, typeof read);
});
