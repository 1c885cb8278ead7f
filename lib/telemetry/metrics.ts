type Labels = Record<string, string>;

interface Family {
  help: string;
  type: "counter" | "gauge" | "histogram";
  render(name: string): string[];
}

/** Series a label set may create; past it new ones are counted together as "other". */
const MAX_SERIES = 2_000;
const DURATION_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];

/** The gateway's numbers, in the Prometheus text format. */
export class Metrics {
  readonly #families = new Map<string, Family>();

  counter(name: string, help: string): (labels?: Labels, by?: number) => void {
    const series = new Series();
    this.#add(name, {
      help,
      type: "counter",
      render: (name) => series.render((key, value) => [`${name}${key} ${value}`]),
    });
    return (labels = {}, by = 1) => {
      const key = series.key(labels);
      series.values.set(key, (series.values.get(key) ?? 0) + by);
    };
  }

  /** A gauge is read when it is asked for, so that nothing has to keep it up to date. */
  gauge(name: string, help: string, read: () => number | [Labels, number][]): void {
    this.#add(name, {
      help,
      type: "gauge",
      render(name) {
        const value = read();
        const rows: [Labels, number][] = typeof value === "number" ? [[{}, value]] : value;
        return rows.map(([labels, number]) => `${name}${formatLabels(labels)} ${number}`);
      },
    });
  }

  /** A histogram of durations in seconds. */
  durations(name: string, help: string): (seconds: number, labels?: Labels) => void {
    const counts = new Map<string, { labels: Labels; buckets: number[]; sum: number }>();
    const series = new Series();
    this.#add(name, {
      help,
      type: "histogram",
      render(name) {
        return [...counts.values()].flatMap(({ labels, buckets, sum }) => {
          let total = 0;
          const lines = buckets.map((count, index) => {
            total += count;
            const le = String(DURATION_BUCKETS[index] ?? "+Inf");
            return `${name}_bucket${formatLabels({ ...labels, le })} ${total}`;
          });
          const key = formatLabels(labels);
          return [...lines, `${name}_sum${key} ${sum}`, `${name}_count${key} ${total}`];
        });
      },
    });
    return (seconds, labels = {}) => {
      const key = series.key(labels);
      series.values.set(key, 0);
      let entry = counts.get(key);
      if (!entry) {
        const kept = key === OTHER ? { series: "other" } : labels;
        entry = { labels: kept, buckets: Array(DURATION_BUCKETS.length + 1).fill(0), sum: 0 };
        counts.set(key, entry);
      }
      const found = DURATION_BUCKETS.findIndex((limit) => seconds <= limit);
      const index = found === -1 ? DURATION_BUCKETS.length : found;
      entry.buckets[index] = (entry.buckets[index] ?? 0) + 1;
      entry.sum += seconds;
    };
  }

  render(): string {
    return [...this.#families].flatMap(([name, family]) => [
      `# HELP ${name} ${family.help}`,
      `# TYPE ${name} ${family.type}`,
      ...family.render(name),
    ]).join("\n") + "\n";
  }

  #add(name: string, family: Family): void {
    if (this.#families.has(name)) throw new Error(`Cannot add metric "${name}": it exists already`);
    this.#families.set(name, family);
  }
}

const OTHER = `{series="other"}`;

class Series {
  readonly values = new Map<string, number>();

  key(labels: Labels): string {
    const key = formatLabels(labels);
    return this.values.has(key) || this.values.size < MAX_SERIES ? key : OTHER;
  }

  render(line: (key: string, value: number) => string[]): string[] {
    return [...this.values].flatMap(([key, value]) => line(key, value));
  }
}

function formatLabels(labels: Labels): string {
  const entries = Object.entries(labels);
  if (entries.length === 0) return "";
  const escape = (value: string) =>
    value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `{${entries.map(([name, value]) => `${name}="${escape(value)}"`).join(",")}}`;
}
