/**
 * How connections and requests are served: certificates by name, CORS, GOAWAY, the order of the
 * end.
 */
import { isIP } from 'node:net'
import { ORIGIN_LENGTH_MAX } from '../api/origin.ts'
import { compilePattern, isLongPattern, type Pattern } from '../objects/cel/regex.ts'
import { CelError } from '../objects/cel/values.ts'
import { readTextFile } from './files/read-file.ts'
import { servingFlags } from './serving-flags.ts'
import type { Values } from './values.ts'

/** A certificate for clients that ask for one of its names. */
export type NamedCertificate = {
  readonly certificatePath: string
  readonly keyPath: string
  readonly certificatePem: string
  readonly keyPem: string
  /** Host names, or *.name. None: those of the certificate. */
  readonly names: readonly string[]
}

export type ServingConfig = {
  /** In order of precedence. */
  readonly namedCertificates: readonly NamedCertificate[]
  /** Patterns for the Origin header; none: CORS is off. */
  readonly corsOrigins: readonly Pattern[]
  /** With which chance an HTTP/2 connection is closed after a request. */
  readonly goawayChance: number
  /** How long the start may take before it fails liveness. */
  readonly livezGraceMs: number
  /**
   * Whether, at the end, connections are accepted until the requests under way are answered, and
   * new requests are told to come again.
   */
  readonly sendsRetryAfter: boolean
  /** How long readiness waits for the initial fill of the cache, at most. */
  readonly fillMsMax: number
  readonly sharesPort: boolean
  /** For each direction of a tunnel; 0: unlimited. */
  readonly tunnelBytesPerSecondMax: number
}

const GOAWAY_CHANCE_MAX = 0.02
/**
 * Characters of the longest Origin times instructions of all patterns: some 20 ms if each runs to
 * its end, which next to none does. A hundred names of hosts fit.
 */
const ORIGIN_STEPS_MAX = 1_500_000

export function readServing(values: Values): ServingConfig {
  // It changes nothing, but must be one.
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
      '--cors-allowed-origins has too many or too long regular expressions: join them, or allow fewer origins',
    )
  }
  return patterns
}

/** A text says what is wrong with it. */
function readOrigin(text: string): Pattern | string {
  // Each request with an Origin is matched on the event loop: what would take milliseconds is no
  // name of a host.
  if (isLongPattern(text)) return 'regular expression is too long'
  const pattern = compilePattern(text)
  if (pattern instanceof CelError) return pattern.message
  // Without both, it would also match longer names of others (CVE-2022-1996).
  const isPinned = /\^|\/\//.test(text) && /[$:]/.test(text)
  return isPinned
    ? pattern
    : 'regular expression does not pin to start/end of host in the origin header'
}

/** `certificate,key` or `certificate,key:name,name`. */
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
    return refuse(`${address} is no host name: clients do not name addresses in TLS (RFC 6066)`)
  const [certificate, key] = [readTextFile(certificatePath), readTextFile(keyPath)]
  if ('text' in certificate && 'text' in key) {
    return [{ certificatePath, keyPath, certificatePem: certificate.text, keyPem: key.text, names }]
  }
  const fault = 'fault' in certificate ? certificate.fault : 'fault' in key ? key.fault : ''
  values.fault(`failed to load SNI cert and key: ${fault}`)
  return []
}
