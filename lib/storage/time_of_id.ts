/** The time that an id begins with, in base 36; undefined where it is no such id. */
export function timeOfId(id: string): number | undefined {
  const time = /^[0-9a-z]{1,10}(?=-)/.exec(id)?.[0];
  return time === undefined ? undefined : parseInt(time, 36);
}
