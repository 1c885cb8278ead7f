import assert from "node:assert/strict";
import { LinkClosed } from "../link.ts";
import { AddressGuard } from "./address_guard.ts";
import { CheckedTunnel } from "./checked_tunnel.ts";
import { GuardedClient } from "./guarded_client.ts";
import { networkFailureWords } from "./network_failure.ts";
import { json, Loopback, STRICT } from "./testing/loopback.ts";
