/** Flags of how connections and requests are served, and of how the server ends. */
import type { Flag } from './flag.ts'

const generic = 'Generic'
const serving = 'Secure serving'

export const servingFlags = {
  'cors-allowed-origins': {
    section: generic,
    type: 'list',
    help: "Which web sites may use the API from a browser: regular expressions (RE2) for the Origin header. Each must match the whole host: from '^' or '//' to '$' or ':', as in '//example\\.com(:|$)'. Without any: none.",
  },
  'goaway-chance': {
    section: generic,
    type: 'float',
    default: '0',
    help: 'With which chance (0 to 0.02) an HTTP/2 client is sent elsewhere after a request, by GOAWAY, so that clients spread over all servers behind a load balancer. Not for a single server.',
  },
  'livez-grace-period': {
    section: generic,
    type: 'duration',
    default: '0s',
    help: 'How long the start may take before /livez fails for what is not started yet.',
  },
  'shutdown-send-retry-after': {
    section: generic,
    type: 'boolean',
    default: 'false',
    help: 'Whether, when the server stops, connections are still accepted until the requests under way are answered; new requests get 429 with Retry-After.',
  },
  'storage-initialization-timeout': {
    section: generic,
    type: 'duration',
    default: '1m0s',
    help: 'How long readiness waits, at most, until objects have been read into memory. More than 3 s is 3 s.',
  },
  'tls-sni-cert-key': {
    section: serving,
    type: 'string',
    help: 'A certificate for clients that ask for certain host names: CERTIFICATE,KEY, or CERTIFICATE,KEY:NAME,*.NAME where its own names are not meant. May be repeated; the first that matches counts. Read again when it changes.',
  },
  'permit-port-sharing': {
    section: serving,
    type: 'boolean',
    default: 'false',
    help: 'Whether other processes may listen on the same address and port (SO_REUSEPORT).',
  },
  'permit-address-sharing': {
    section: serving,
    type: 'boolean',
    default: 'false',
    help: 'Whether SO_REUSEADDR is set.',
    unused: 'it is always set, as Node.js does it',
  },
  'max-connection-bytes-per-sec': {
    section: 'Misc',
    type: 'integer',
    default: '0',
    help: 'How many bytes a second each way of a tunnel (exec, attach, port-forward, proxy) may take. 0: any number.',
  },
} as const satisfies { readonly [name: string]: Flag }
