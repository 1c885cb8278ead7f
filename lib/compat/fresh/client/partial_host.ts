import { Component, type ComponentChild, type ComponentChildren, Fragment, h } from "preact";

export type PartialMode = "replace" | "append" | "prepend";

export interface PartialHostProps {
  name: string;
  mode: PartialMode;
  children?: ComponentChildren;
}

/** The partials of the current page, by name. */
export const partials: Map<string, PartialHost> = new Map();

let appended = 0;

/** A partial of the page. Preact diffs new content against the old, so that state survives. */
export class PartialHost extends Component<PartialHostProps> {
  #parts: ComponentChild[] = [base(this.props.children)];

  /** Takes content from a response. */
  update(mode: PartialMode, children: ComponentChildren): void {
    this.#take(mode, children);
    this.forceUpdate();
  }

  override componentDidMount(): void {
    partials.set(this.props.name, this);
  }

  override componentWillReceiveProps(next: PartialHostProps): void {
    // An outer partial was updated; this one came along in its content.
    if (next.children !== this.props.children) this.#take(next.mode, next.children);
  }

  override componentDidUpdate(previous: PartialHostProps): void {
    const { name } = this.props;
    if (previous.name === name) return;
    if (partials.get(previous.name) === this) partials.delete(previous.name);
    partials.set(name, this);
  }

  override componentWillUnmount(): void {
    if (partials.get(this.props.name) === this) partials.delete(this.props.name);
  }

  override render(): ComponentChildren {
    return this.#parts;
  }

  #take(mode: PartialMode, children: ComponentChildren): void {
    if (mode === "replace") {
      this.#parts = [base(children)];
      return;
    }
    // Its own key each time: what is there must not be taken for what is added.
    const added = h(Fragment, { key: `added-${appended++}` }, children);
    this.#parts = mode === "append" ? [...this.#parts, added] : [added, ...this.#parts];
  }
}

/** Keyed too, so that it stays itself when something is put before it. */
function base(children: ComponentChildren): ComponentChild {
  return h(Fragment, { key: "base" }, children);
}
