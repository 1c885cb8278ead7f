/** Does the work once for all who ask; where it fails, whoever asks next has it done again. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    if (done) return done;
    const doing = done = work();
    doing.catch(() => done = undefined);
    return doing;
  };
}
