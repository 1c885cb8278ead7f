export interface Measures {
  recall1: number;
  recall3: number;
  recall5: number;
  recall10: number;
  mrr: number;
  ndcg10: number;
  p50: number;
  p95: number;
}

/** How well an engine answers queries whose right answers are known. */
export async function measure(
  queries: { query: string; relevant: string[] }[],
  search: (query: string) => Promise<string[]> | string[],
): Promise<Measures> {
  const sums = { recall1: 0, recall3: 0, recall5: 0, recall10: 0, mrr: 0, ndcg10: 0 };
  const times: number[] = [];
  for (const { query, relevant } of queries) {
    const started = performance.now();
    const found = await search(query);
    times.push(performance.now() - started);
    const wanted = new Set(relevant);
    const hits = found.slice(0, 10).map((key) => wanted.has(key));
    const recall = (count: number) => hits.slice(0, count).filter(Boolean).length / wanted.size;
    sums.recall1 += recall(1);
    sums.recall3 += recall(3);
    sums.recall5 += recall(5);
    sums.recall10 += recall(10);
    const first = hits.indexOf(true);
    sums.mrr += first < 0 ? 0 : 1 / (first + 1);
    const gain = (rank: number) => 1 / Math.log2(rank + 2);
    const got = hits.reduce((sum, hit, rank) => sum + (hit ? gain(rank) : 0), 0);
    let ideal = 0;
    for (let rank = 0; rank < Math.min(10, wanted.size); rank++) ideal += gain(rank);
    sums.ndcg10 += got / ideal;
  }
  const count = Math.max(1, queries.length);
  const share = (sum: number) => 100 * sum / count;
  times.sort((one, other) => one - other);
  return {
    recall1: share(sums.recall1),
    recall3: share(sums.recall3),
    recall5: share(sums.recall5),
    recall10: share(sums.recall10),
    mrr: share(sums.mrr),
    ndcg10: share(sums.ndcg10),
    p50: times[Math.floor(times.length * 0.5)] ?? 0,
    p95: times[Math.floor(times.length * 0.95)] ?? 0,
  };
}
