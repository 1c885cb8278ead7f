import { Component, type ComponentChildren, Fragment, h } from "preact";

export interface PartialHostProps {
  name: string;
  mode: string;
  children?: ComponentChildren;
}

/** The partials of the current page, by name. */
export const partials: Map<string, PartialHost> = new Map();

let added = 0;

/** A partial of the page. Preact diffs new content against the old, so that state survives. */
export class PartialHost extends Component<PartialHostProps> {
  #parts: ComponentChildren[] = [];

  constructor(props: PartialHostProps) {
    super(props);
    this.#take({ ...props, mode: "replace" });
  }

  /** Takes content from a response. */
  update(props: PartialHostProps): void {
    this.#take(props);
    this.forceUpdate();
  }

  override componentDidMount(): void {
    partials.set(this.props.name, this);
  }

  override componentWillReceiveProps(next: PartialHostProps): void {
    // An outer partial was updated; this one came along in its content.
    if (next.children !== this.props.children) this.#take(next);
  }

  override componentDidUpdate(previous: PartialHostProps): void {
    if (partials.get(previous.name) === this) partials.delete(previous.name);
    partials.set(this.props.name, this);
  }

  override componentWillUnmount(): void {
    if (partials.get(this.props.name) === this) partials.delete(this.props.name);
  }

  override render(): ComponentChildren {
    return this.#parts;
  }

  /** Each part has a key: what is there must not be taken for what is put before it. */
  #take({ mode, children }: PartialHostProps): void {
    const isAdded = mode === "append" || mode === "prepend";
    const part = h(Fragment, { key: isAdded ? `added-${added++}` : "base" }, children);
    const kept = isAdded ? this.#parts : [];
    this.#parts = mode === "prepend" ? [part, ...kept] : [...kept, part];
  }
}
