const TOKEN = "for-somebody-elsewhere-0123456789abcdef";

/** What a gateway is started with that `ELSEWHERE` is to be let in at. */
export const WITH_ADMIN = { QUARTERMASTER_ADMIN_TOKEN: TOKEN };

/** Somebody behind a proxy who may do everything, and is not on this machine whatever its peer says. */
export const ELSEWHERE = { "x-forwarded-for": "192.0.2.7", authorization: `Bearer ${TOKEN}` };
