import { Partial } from "fresh/runtime";
import { BottomBar, Rail, TopBar } from "./(_components)/frame.tsx";
import {
  Clock,
  Copier,
  NavFeedback,
  PageMoment,
  Shortcuts,
  Toaster,
} from "../../islands/frame.tsx";
import { define } from "../../lib/console/define.ts";
import { frameOf, totalWaiting, waitingCounts } from "../../lib/console/frame.ts";
import { EVERYONE } from "../../lib/core/access.ts";
import { REFRESH_BUTTON_ID } from "../../lib/console/ui/live.ts";

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
