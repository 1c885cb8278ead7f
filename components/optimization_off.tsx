import { Icon } from "./icon.tsx";

/** What optimization is, and the button that switches it on. */
export function SwitchedOff() {
  return (
    <section class="card switched-off" aria-labelledby="switched-off">
      <div class="card-body">
        <span class="empty-icon">
          <Icon name="optimization" size={20} />
        </span>
        <div class="switched-off-text">
          <h2 id="switched-off">Optimization is off</h2>
          <p class="muted">
            A model picks a tool by its description. Here other descriptions of a tool are written,
            tried with prompts that should and should not lead to it, and put in the place of the
            server's own where they do better. Each trial asks a model once, which takes time and
            may cost money; nothing of it happens while this is off. Promoted descriptions stay in
            force either way.
          </p>
          <form method="post" action="/optimization/~switch" f-client-nav={false}>
            <input type="hidden" name="enabled" value="on" />
            <button type="submit" class="button button-primary">Switch optimization on</button>
          </form>
        </div>
      </div>
    </section>
  );
}
