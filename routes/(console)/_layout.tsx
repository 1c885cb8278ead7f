import { Partial } from "fresh/runtime";
import { BottomBar, Rail } from "../../components/rail.tsx";
import { TopBar } from "../../components/top_bar.tsx";
import Clock from "../../islands/clock.tsx";
import Copier from "../../islands/copier.tsx";
import NavFeedback from "../../islands/nav_feedback.tsx";
import PageMoment from "../../islands/page_moment.tsx";
import Shortcuts from "../../islands/shortcuts.tsx";
import Toaster from "../../islands/toaster.tsx";
import { define } from "../../lib/console/define.ts";
import { frameOf } from "../../lib/console/frame.ts";
import { EVERYONE } from "../../lib/core/principal.ts";
import { totalWaiting, waitingCounts } from "../../lib/console/security_waiting.ts";
import { REFRESH_BUTTON_ID } from "../../lib/console/ui/refresh.ts";

export default define.layout(async function Layout({ Component, state, url }) {
  // What anybody may ask for can be missing, and then is nobody's business how many servers there are.
  if (state.gateway.access.isRequired && state.principal === EVERYONE) return <Component />;
  const frame = frameOf(
    state.gateway,
    state.madeAt,
    totalWaiting(await waitingCounts(state.gateway)),
  );
  return (
    <>
      <a class="skip" href="#main">Skip to content</a>
      <NavFeedback />
      <div class="frame">
        <Rail frame={frame} pathname={url.pathname} />
        <div class="stage">
          <TopBar frame={frame} pathname={url.pathname} />
          <main id="main" class="content" tabIndex={-1}>
            <Partial name="page">
              <PageMoment madeAt={frame.madeAt} />
              <Component />
            </Partial>
          </main>
        </div>
        <BottomBar frame={frame} pathname={url.pathname} />
      </div>
      <Toaster />
      <Shortcuts />
      <Copier />
      <Clock />
      <button type="button" id={REFRESH_BUTTON_ID} f-partial={url.pathname} hidden>Refresh</button>
    </>
  );
});
