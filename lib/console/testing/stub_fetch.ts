/** Has every request answered with this, until it is disposed; for what asks by a path alone. */
export function stubFetch(answer: unknown, status = 200): Disposable {
  const real = globalThis.fetch;
  globalThis.fetch = () => Promise.resolve(Response.json(answer, { status }));
  return {
    [Symbol.dispose]() {
      globalThis.fetch = real;
    },
  };
}
