/**
 * Reads the flags that configure how connections and requests are served: certificates by host
 * name, CORS, GOAWAY, and the shutdown sequence.
 */
import { isIP } from 'node:net'
import { ORIGIN_LENGTH_MAX } from '../api/origin.ts'
import { compilePattern, isLongPattern, type Pattern } from '../objects/cel/regex.ts'
import { CelError } from '../objects/cel/values.ts'
import { readTextFile } from './files/read-file.ts'
import { servingFlags } from './serving-flags.ts'
import type { Values } from './values.ts'

/** A certificate for clients that request one of its names (SNI). */
export type NamedCertificate = {
  readonly certificatePath: string
  readonly keyPath: string
  readonly certificatePem: string
  readonly keyPem: string
  /** Host names, or *.name. If empty, the names in the certificate apply. */
  readonly names: readonly string[]
}

export type ServingConfig = {
  /** The certificates for specific host names, in order of precedence. */
  readonly namedCertificates: readonly NamedCertificate[]
  /** Patterns that are matched against the Origin header. If empty, CORS is disabled. */
  readonly corsOrigins: readonly Pattern[]
  /** Probability that an HTTP/2 connection is closed after a request. */
  readonly goawayChance: number
  /** Maximum duration of the startup. After this time, /livez fails if the server is not ready. */
  readonly livezGraceMs: number
  /**
   * Whether a stopping server keeps accepting connections until the requests in progress have been
   * answered. New requests are rejected with a Retry-After header.
   */
  readonly sendsRetryAfter: boolean
  /** How long the server waits until its cache is filled, before it reports that it is ready. */
  readonly fillMsMax: number
  readonly sharesPort: boolean
  /**
   * Maximum rate of a streaming connection, in bytes per second and direction. 0 means unlimited.
   */
  readonly tunnelBytesPerSecondMax: number
}

const GOAWAY_CHANCE_MAX = 0.02
/**
 * Limit for the time in which one Origin header is compared with all patterns. It applies to the
 * number of instructions of all patterns, multiplied by the maximum length of the header, and
 * corresponds to about 20 ms. A hundred patterns for host names are within the limit.
 */
const ORIGIN_STEPS_MAX = 1_500_000

export function readServing(values: Values): ServingConfig {
  // Read --permit-address-sharing only to report an invalid value. The flag has no effect.
  values.boolean('permit-address-sharing')
  return {
    goawayChance: readGoawayChance(values),
    livezGraceMs: readLivezGrace(values),
    sendsRetryAfter: values.boolean('shutdown-send-retry-after'),
    fillMsMax: values.durationMs('storage-initialization-timeout', { isNegativeFault: true }),
    corsOrigins: readOrigins(values),
    namedCertificates: values.array('tls-sni-cert-key').flatMap((text) => readNamed(values, text)),
    sharesPort: values.boolean('permit-port-sharing'),
    tunnelBytesPerSecondMax: Math.max(0, values.integer('max-connection-bytes-per-sec')),
  }
}

function readGoawayChance(values: Values): number {
  const chance = values.float('goaway-chance')
  if (chance < 0 || chance > GOAWAY_CHANCE_MAX)
    values.fault(`--goaway-chance can not be less than 0 or greater than ${GOAWAY_CHANCE_MAX}`)
  return chance
}

function readLivezGrace(values: Values): number {
  const ms = values.durationMs('livez-grace-period')
  if (ms < 0) values.fault('--livez-grace-period can not be a negative value')
  return ms
}

function readOrigins(values: Values): Pattern[] {
  const help = `help: ${servingFlags['cors-allowed-origins'].help}`
  const patterns = values.slice('cors-allowed-origins').flatMap((text) => {
    if (text === '') {
      values.fault(`empty value in --cors-allowed-origins, ${help}`)
      return []
    }
    const pattern = readOrigin(text)
    if (typeof pattern !== 'string') return [pattern]
    values.fault(`--cors-allowed-origins has an invalid regular expression: ${pattern}, ${help}`)
    return []
  })
  const steps = patterns.reduce(
    (sum, pattern) => sum + ORIGIN_LENGTH_MAX * pattern.programSize(),
    0,
  )
  if (steps > ORIGIN_STEPS_MAX) {
    values.fault(
      '--cors-allowed-origins has too many or too long regular expressions: combine them, or allow fewer origins',
    )
  }
  return patterns
}

/** Returns the compiled pattern, or an error message if it is invalid. */
function readOrigin(text: string): Pattern | string {
  // Refuse long patterns. Every Origin header is matched on the event loop, and no pattern for host
  // names takes milliseconds.
  if (isLongPattern(text)) return 'regular expression is too long'
  const pattern = compilePattern(text)
  if (pattern instanceof CelError) return pattern.message
  // Without both anchors, the pattern would also match longer names of other hosts (CVE-2022-1996).
  const isPinned = /\^|\/\//.test(text) && /[$:]/.test(text)
  return isPinned
    ? pattern
    : 'regular expression does not pin to start/end of host in the origin header'
}

/** Parses `certificate,key` or `certificate,key:name,name`. */
function readNamed(values: Values, text: string): NamedCertificate[] {
  const refuse = (why: string): NamedCertificate[] => {
    values.refuse('tls-sni-cert-key', why)
    return []
  }
  const at = text.indexOf(':')
  const [files, list] = at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1).trim()]
  if (list === '') return refuse('empty names list is not allowed')
  const paths = files.split(',').map((path) => path.trim())
  const [certificatePath = '', keyPath = ''] = paths
  if (paths.length !== 2) return refuse('expected comma separated certificate and key file paths')
  const names = list === undefined ? [] : list.split(',').map((name) => name.trim().toLowerCase())
  const address = names.find((name) => isIP(name) !== 0)
  if (address !== undefined)
    return refuse(
      `${address} is not a host name: TLS clients cannot ask for an IP address (RFC 6066)`,
    )
  const [certificate, key] = [readTextFile(certificatePath), readTextFile(keyPath)]
  if ('text' in certificate && 'text' in key) {
    return [{ certificatePath, keyPath, certificatePem: certificate.text, keyPem: key.text, names }]
  }
  const fault = 'fault' in certificate ? certificate.fault : 'fault' in key ? key.fault : ''
  values.fault(`failed to load SNI cert and key: ${fault}`)
  return []
}
