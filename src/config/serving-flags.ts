/** Flags that configure how connections and requests are served, and how the server stops. */
import type { Flag } from './flag.ts'

const generic = 'Generic'
const serving = 'Secure serving'

export const servingFlags = {
  'cors-allowed-origins': {
    section: generic,
    type: 'list',
    help: "Web origins from which browsers can use the API: regular expressions (RE2) that are matched against the Origin header. Each must anchor both ends of the host, with '^' or '//' before it and '$' or ':' after it, as in '//example\\.com(:|$)'. Default: none.",
  },
  'goaway-chance': {
    section: generic,
    type: 'float',
    default: '0',
    help: 'Probability (0 to 0.02) that the server sends a GOAWAY after a request. HTTP/2 clients then reconnect, so that connections spread over all servers behind a load balancer. Do not set this flag for a single server.',
  },
  'livez-grace-period': {
    section: generic,
    type: 'duration',
    default: '0s',
    help: 'Time after the start during which /livez ignores startup tasks that have not finished yet.',
  },
  'shutdown-send-retry-after': {
    section: generic,
    type: 'boolean',
    default: 'false',
    help: 'Whether a stopping server keeps accepting connections until the requests in progress have been answered. New requests are rejected with 429 and a Retry-After header.',
  },
  'storage-initialization-timeout': {
    section: generic,
    type: 'duration',
    default: '1m0s',
    help: 'Maximum time that the server waits for objects to be loaded into memory before it reports that it is ready. Values above 3s have the same effect as 3s.',
  },
  'tls-sni-cert-key': {
    section: serving,
    type: 'string',
    help: 'Certificate and key for clients that request certain host names (SNI), as CERTIFICATE,KEY. The host names are those in the certificate. To use other host names: CERTIFICATE,KEY:NAME,*.NAME. Can be repeated; the first match is used. Reloaded when it changes.',
  },
  'permit-port-sharing': {
    section: serving,
    type: 'boolean',
    default: 'false',
    help: 'Whether other processes can listen on the same address and port (SO_REUSEPORT).',
  },
  'permit-address-sharing': {
    section: serving,
    type: 'boolean',
    default: 'false',
    help: 'Whether to set SO_REUSEADDR on the listening socket.',
    unused: 'Node.js always sets it',
  },
  'max-connection-bytes-per-sec': {
    section: 'Misc',
    type: 'integer',
    default: '0',
    help: 'Maximum number of bytes per second in each direction of a streaming connection (exec, attach, port-forward, proxy). 0 means no limit.',
  },
} as const satisfies { readonly [name: string]: Flag }
