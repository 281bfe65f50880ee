/**
 * Reads the file of `--tracing-config-file`, which defines the receiver of spans and the sampling
 * rate. Its kind is TracingConfiguration (apiserver.config.k8s.io).
 */
import { describeFaults } from '../../api/aggregate.ts'
import { type FieldFault, invalidValue } from '../../api/field-fault.ts'
import { type Fields, numberOf, textOf } from '../../api/object.ts'
import { parseGoUrl } from '../../api/url.ts'
import { decodeFile } from './decode-file.ts'
import type { FileRead } from './config-file.ts'
import { tracingScheme } from './schemes.ts'

export type TracingConfig = {
  /**
   * Address of the collector in gRPC syntax: `localhost:4317`, `dns://resolver/host:port`,
   * `unix:///path`, `unix-abstract://name`.
   */
  readonly endpoint: string
  /** Number of requests per million that are traced, in addition to requests that clients trace. */
  readonly samplingRatePerMillion: number
}

/** 4317 is the default port for OTLP over gRPC. */
const DEFAULT_ENDPOINT = 'localhost:4317'
const RATE_MAX = 1_000_000

const byDefault = {
  kind: 'TracingConfiguration',
  apiVersion: 'apiserver.config.k8s.io/v1beta1',
} as const

/**
 * Reads a TracingConfiguration. kind and apiVersion can be absent, because kube-apiserver decodes
 * the file to a fixed type.
 */
export function readTracingConfig(bytes: Buffer): FileRead<TracingConfig> {
  const decoded = decodeFile(bytes, tracingScheme, { byDefault })
  if ('fault' in decoded) return { fault: decoded.fault, stage: 'decoding' }
  const { known, fields, strictFault } = decoded
  if (known.hubName !== 'apiserver.TracingConfiguration') {
    const why = `converting (${known.goName}) to (apiserver.TracingConfiguration): unknown conversion`
    return { fault: why, stage: 'decoding' }
  }
  if (strictFault !== undefined) return { fault: strictFault, stage: 'decoding' }
  const faults = [...rateFaults(fields), ...endpointFaults(fields)]
  if (faults.length > 0) return { fault: describeFaults(faults) }
  const endpoint = textOf(fields['endpoint']) || DEFAULT_ENDPOINT
  return { value: { endpoint, samplingRatePerMillion: numberOf(fields['samplingRatePerMillion']) } }
}

function rateFaults({ samplingRatePerMillion: given }: Fields): FieldFault[] {
  const rate = numberOf(given)
  if (rate >= 0 && rate <= RATE_MAX) return []
  const why =
    rate < 0
      ? 'sampling rate must be positive'
      : 'sampling rate per million must be less than or equal to one million'
  return [invalidValue('samplingRatePerMillion', rate, why)]
}

const schemes: ReadonlySet<string> = new Set(['dns', 'unix', 'unix-abstract'])

function endpointFaults({ endpoint }: Fields): FieldFault[] {
  if (endpoint === undefined || endpoint === null) return []
  const text = textOf(endpoint)
  const url = text.includes('//') ? text : `dns://${text}`
  const parsed = parseGoUrl(url)
  if ('fault' in parsed) return [invalidValue('endpoint', url, parsed.fault)]
  if (schemes.has(parsed.scheme)) return []
  const options =
    'Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md'
  return [invalidValue('endpoint', url, `unsupported scheme: ${parsed.scheme}.  ${options}`)]
}
