/** The fields that have a value; with exactOptionalPropertyTypes, undefined is one. */
export function defined<T extends object>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The value at a key, made if there is none. Maps of Deno 2.5 cannot do this themselves. */
export function getOrMake<K, V extends object | string>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: (key: K) => V,
): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, value = make(key));
  return value;
}
