import { POINTS } from "./register.ts";
import type { Sign } from "./sign.ts";
import { DECEIT } from "./signs_deceit.ts";
import { GOODS } from "./signs_goods.ts";
import { HARM } from "./signs_harm.ts";
import { ORDERS } from "./signs_orders.ts";
import { TOOLS_OF_OTHERS } from "./signs_tools.ts";

/** All signs with their points; one that the trainer has not seen counts as the lightest do. */
export const SIGNS: readonly Sign[] = [...ORDERS, ...GOODS, ...HARM, ...DECEIT, ...TOOLS_OF_OTHERS]
  .map((sign) => ({
    ...sign,
    points: POINTS.get(sign.id) ?? 0.5,
  }));
