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
    const series = new Series<{ count: number }>(() => ({ count: 0 }));
    this.#add(name, {
      help,
      type: "counter",
      render: (name) => series.render((key, { count }) => [`${name}${key} ${count}`]),
    });
    return (labels = NONE, by = 1) => {
      series.of(labels).count += by;
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
    const series = new Series(() => ({
      buckets: Array<number>(DURATION_BUCKETS.length + 1).fill(0),
      sum: 0,
    }));
    this.#add(name, {
      help,
      type: "histogram",
      render: (name) =>
        series.render((key, { buckets, sum }) => {
          let total = 0;
          const lines = buckets.map((count, index) => {
            total += count;
            const le = `le="${DURATION_BUCKETS[index] ?? "+Inf"}"`;
            return `${name}_bucket${
              key === "" ? `{${le}}` : `${key.slice(0, -1)},${le}}`
            } ${total}`;
          });
          return [...lines, `${name}_sum${key} ${sum}`, `${name}_count${key} ${total}`];
        }),
    });
    return (seconds, labels = NONE) => {
      const entry = series.of(labels);
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
const NONE: Labels = Object.freeze({});

class Series<T> {
  readonly #create: () => T;
  readonly #values = new Map<string, T>();
  /** Callers that count often count with the same object. */
  readonly #known = new WeakMap<Labels, T>();

  constructor(create: () => T) {
    this.#create = create;
  }

  of(labels: Labels): T {
    const known = this.#known.get(labels);
    if (known !== undefined) return known;
    const value = this.#find(labels);
    if (Object.isFrozen(labels)) this.#known.set(labels, value);
    return value;
  }

  #find(labels: Labels): T {
    const wanted = formatLabels(labels);
    const found = this.#values.get(wanted);
    if (found !== undefined) return found;
    const key = this.#values.size < MAX_SERIES ? wanted : OTHER;
    const value = this.#values.get(key) ?? this.#create();
    this.#values.set(key, value);
    return value;
  }

  render(lines: (key: string, value: T) => string[]): string[] {
    return [...this.#values].flatMap(([key, value]) => lines(key, value));
  }
}

function formatLabels(labels: Labels): string {
  let text = "";
  for (const name in labels) {
    const value = labels[name]!;
    const plain = /[\\"\n]/.test(value)
      ? value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
      : value;
    text += `${text === "" ? "" : ","}${name}="${plain}"`;
  }
  return text === "" ? "" : `{${text}}`;
}
