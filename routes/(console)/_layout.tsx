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
import { REFRESH_BUTTON_ID } from "../../lib/console/ui/live.ts";

export default define.layout(async function Layout({ Component, req, state, url }) {
  // The error page is for everybody, the numbers in the frame are not.
  if (!state.host.consoleGate.mayLook(req, state.principal)) return <Component />;
  const waiting = totalWaiting(await waitingCounts(state.host));
  const frame = frameOf(state.host, state.madeAt, waiting);
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
