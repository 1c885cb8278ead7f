import { page } from "fresh";
import { SecurityReview } from "../../../../components/security_review.tsx";
import { askerOf } from "../../../../lib/console/asker.ts";
import { define } from "../../../../lib/console/define.ts";
import { formError } from "../../../../lib/console/form_error.ts";
import {
  decide,
  readReviewAction,
  type ReviewPage,
  reviewPage,
} from "../../../../lib/console/security_review.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { readForm } from "../../../../lib/http/read_form.ts";

export const handler = define.handlers({
  async GET(ctx) {
    ctx.state.title = "Review";
    return page<ReviewPage>(await reviewPage(ctx.state.gateway, ctx.url.searchParams));
  },

  async POST(ctx) {
    const { gateway } = ctx.state;
    const form = await readForm(ctx.req, gateway.options.options.maxBody);
    try {
      await decide(gateway, readReviewAction(Object.fromEntries(form)), askerOf(ctx));
      return ctx.redirect("/security/review", 303);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      ctx.state.title = "Review";
      const data: ReviewPage = { ...await reviewPage(gateway), refused: formError(error) };
      return page(data, { status: error.httpStatus });
    }
  },
});

export default define.page<typeof handler>(function ReviewRoute({ data, url }) {
  return (
    <div class="stack" data-live="servers tools settings">
      <SecurityReview page={data} url={url} />
    </div>
  );
});
