/** Which metrics are shown, and with which values of their labels. */
import { messageOf } from '../lib/errors.ts'
import { parseYaml } from '../objects/codec/yaml-parse.ts'
import type { AllowedLabels, MetricChoice } from '../lib/telemetry/metrics.ts'
import { parseCsv } from './csv.ts'
import { readBytes } from './files/read-file.ts'
import type { Values } from './values.ts'

/**
 * The one release whose hidden metrics may be asked for: the one before that which Keelson serves.
 */
const PREVIOUS = '1.32'

export function readMetrics(values: Values, warn: (text: string) => void): MetricChoice {
  const version = values.string('show-hidden-metrics-for-version')
  if (version !== '' && version !== PREVIOUS) {
    values.fault(
      `--show-hidden-metrics-for-version must be omitted or have the value '${PREVIOUS}'. Only the previous minor version is allowed`,
    )
  }
  return {
    allowedLabels: readAllowedLabels(values, warn),
    disabled: new Set(values.slice('disabled-metrics')),
    showsHidden: version !== '',
  }
}

/**
 * The flag wins over the file. As upstream, a file that cannot be used is told of, and restricts
 * nothing.
 */
function readAllowedLabels(values: Values, warn: (text: string) => void): AllowedLabels {
  if (values.isGiven('allow-metric-labels')) return readFlag(values)
  const path = values.string('allow-metric-labels-manifest')
  if (path === '') return new Map()
  const file = readBytes(path)
  if ('fault' in file) {
    warn(`Failed to read allow list manifest: ${file.fault}`)
    return new Map()
  }
  const pairs = readManifest(file.bytes)
  if (typeof pairs === 'string') warn(`Failed to parse allow list manifest: ${pairs}`)
  return typeof pairs === 'string' ? new Map() : pairs
}

/**
 * A pair is `metric,label=value,value`; several of them are a line of CSV, and each is in quotes,
 * since it has commas.
 */
function readFlag(values: Values): AllowedLabels {
  const allowed = new Map<string, ReadonlySet<string>>()
  const given = values
    .array('allow-metric-labels')
    .flatMap((text) => pairsOf(text).map((pair) => ({ text, pair })))
  for (const { text, pair } of given) {
    const at = pair.indexOf('=')
    if (at === -1) {
      values.fault(
        `invalid argument ${JSON.stringify(text)} for "--allow-metric-labels" flag: ${pair} must be formatted as key=value`,
      )
    } else if (metricAndLabel.test(pair.slice(0, at).trim())) {
      allowed.set(pair.slice(0, at).trim(), split(pair.slice(at + 1)))
    } else {
      values.fault(
        '--allow-metric-labels must have a list of kv pair with format `metricName,labelName=labelValue, labelValue,...`',
      )
    }
  }
  return allowed
}

/** As upstream: one without a value is shown as it was given, and one alone needs no quotes. */
function pairsOf(text: string): readonly string[] {
  const parts = text.split('=').length
  if (parts === 1) return [text]
  return parts === 2 ? [text.replace(/^"+|"+$/g, '')] : (parseCsv(text).rows[0] ?? [text])
}

const metricAndLabel = /^[a-zA-Z_:][a-zA-Z0-9_:]*,[a-zA-Z_][a-zA-Z0-9_]*$/

const split = (list: string): ReadonlySet<string> =>
  new Set(list.split(',').map((value) => value.trim()))

/** A mapping from `metric,label` to values; the text says why it is none. */
function readManifest(bytes: Buffer): AllowedLabels | string {
  let read: unknown
  try {
    read = parseYaml(bytes).value
  } catch (error) {
    return messageOf(error)
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return 'it is not a mapping'
  const allowed = new Map<string, ReadonlySet<string>>()
  for (const [key, list] of Object.entries(read)) {
    if (typeof list !== 'string') return `the values of ${JSON.stringify(key)} are not a text`
    if (!metricAndLabel.test(key)) return `${JSON.stringify(key)} is not metric,label`
    allowed.set(key, split(list))
  }
  return allowed
}
