export interface Measures {
  recall1: number;
  recall5: number;
  recall10: number;
  mrr: number;
  ndcg10: number;
  p50: number;
  p95: number;
  /** For each query, its recall@5 and the inverse of the first right rank. */
  each: { recall5: number; inverseRank: number }[];
}

/** How well an engine answers queries whose right answers are known. */
export async function measure(
  queries: { query: string; relevant: string[] }[],
  search: (query: string) => Promise<string[]> | string[],
): Promise<Measures> {
  const sums = { recall1: 0, recall5: 0, recall10: 0, mrr: 0, ndcg10: 0 };
  const times: number[] = [];
  const each: Measures["each"] = [];
  for (const { query, relevant } of queries) {
    const started = performance.now();
    const found = await search(query);
    times.push(performance.now() - started);
    const wanted = new Set(relevant);
    const hits = found.slice(0, 10).map((key) => wanted.has(key));
    const recall = (count: number) => hits.slice(0, count).filter(Boolean).length / wanted.size;
    sums.recall1 += recall(1);
    sums.recall5 += recall(5);
    sums.recall10 += recall(10);
    const first = hits.indexOf(true);
    const inverseRank = first < 0 ? 0 : 1 / (first + 1);
    sums.mrr += inverseRank;
    each.push({ recall5: recall(5), inverseRank });
    const gain = (rank: number) => 1 / Math.log2(rank + 2);
    const got = hits.reduce((sum, hit, rank) => sum + (hit ? gain(rank) : 0), 0);
    let ideal = 0;
    for (let rank = 0; rank < Math.min(10, wanted.size); rank++) ideal += gain(rank);
    sums.ndcg10 += got / ideal;
  }
  const share = (sum: number) => 100 * sum / Math.max(1, queries.length);
  times.sort((one, other) => one - other);
  return {
    recall1: share(sums.recall1),
    recall5: share(sums.recall5),
    recall10: share(sums.recall10),
    mrr: share(sums.mrr),
    ndcg10: share(sums.ndcg10),
    p50: times[Math.floor(times.length * 0.5)] ?? 0,
    p95: times[Math.floor(times.length * 0.95)] ?? 0,
    each,
  };
}

const DRAWS = 2_000;

/** One engine minus another over the same queries, in points: the mean and its 95 % interval. */
export function pairedDifference(
  one: Measures,
  other: Measures,
  of: keyof Measures["each"][number],
): { mean: number; low: number; high: number } {
  const gaps = one.each.map((measured, query) => 100 * (measured[of] - other.each[query]![of]));
  const random = seeded(1);
  const means = Float64Array.from({ length: DRAWS }, () => {
    let sum = 0;
    for (let draw = 0; draw < gaps.length; draw++) sum += gaps[Math.floor(random() * gaps.length)]!;
    return sum / Math.max(1, gaps.length);
  }).sort();
  return {
    mean: gaps.reduce((sum, gap) => sum + gap, 0) / Math.max(1, gaps.length),
    low: means[Math.floor(DRAWS * 0.025)]!,
    high: means[Math.floor(DRAWS * 0.975)]!,
  };
}

/** The same numbers on every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
