/** Flags for serving connections and requests, and for stopping the server. */
import type { Flag } from './flag.ts'

const generic = 'Generic'
const serving = 'Secure serving'

export const servingFlags = {
  'cors-allowed-origins': {
    section: generic,
    type: 'list',
    help: "Web sites that may use the API from a browser: regular expressions (RE2) for the Origin header. Each must pin both ends of the host: '^' or '//' at its start and '$' or ':' at its end, as in '//example\\.com(:|$)'. Default: none.",
  },
  'goaway-chance': {
    section: generic,
    type: 'float',
    default: '0',
    help: 'Probability (0 to 0.02) that a GOAWAY after a request asks an HTTP/2 client to reconnect, so that clients spread over all servers behind a load balancer. Do not set it for a single server.',
  },
  'livez-grace-period': {
    section: generic,
    type: 'duration',
    default: '0s',
    help: 'How long after the start /livez ignores startup tasks that are not finished yet.',
  },
  'shutdown-send-retry-after': {
    section: generic,
    type: 'boolean',
    default: 'false',
    help: 'Whether a server that stops still accepts connections until the requests in progress are answered. New requests are rejected with 429 and a Retry-After header.',
  },
  'storage-initialization-timeout': {
    section: generic,
    type: 'duration',
    default: '1m0s',
    help: 'Maximum time for which readiness waits until objects are loaded into memory. Values above 3s have the same effect as 3s.',
  },
  'tls-sni-cert-key': {
    section: serving,
    type: 'string',
    help: 'Certificate and key for clients that ask for certain host names (SNI): CERTIFICATE,KEY. To use other names than those in the certificate: CERTIFICATE,KEY:NAME,*.NAME. May be repeated; the first match is used. Reloaded when it changes.',
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
