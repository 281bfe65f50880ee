/** Reads the flags that define which metrics are shown and which values their labels can have. */
import { messageOf } from '../lib/errors.ts'
import { parseYaml } from '../objects/codec/yaml-parse.ts'
import type { AllowedLabels, MetricChoice } from '../lib/telemetry/metrics.ts'
import { parseCsv } from './csv.ts'
import { readBytes } from './files/read-file.ts'
import type { Values } from './values.ts'

export function readMetrics(
  values: Values,
  release: number,
  warn: (text: string) => void,
): MetricChoice {
  // A server can show only those hidden metrics that the release before its own still showed.
  const previous = `1.${release - 1}`
  const version = values.string('show-hidden-metrics-for-version')
  if (version !== '' && version !== previous) {
    values.fault(
      `--show-hidden-metrics-for-version must be omitted or have the value '${previous}'. Only the previous minor version is allowed`,
    )
  }
  return {
    release,
    allowedLabels: readAllowedLabels(values, warn),
    disabled: new Set(values.slice('disabled-metrics')),
    showsHidden: version !== '',
  }
}

/**
 * Returns the allowed values of metric labels. --allow-metric-labels takes precedence over
 * --allow-metric-labels-manifest. As in kube-apiserver, a manifest that cannot be used causes a
 * warning and does not restrict any labels.
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
 * Parses strings of the form `metric,label=value,value`. One flag can contain several of them,
 * separated by commas. Each string must then be quoted as in CSV, because it contains commas
 * itself.
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

/**
 * Splits the value of the flag into pairs. As in kube-apiserver, a single pair does not need
 * quotes. A pair without a value is returned unchanged, so that the error message can show it.
 */
function pairsOf(text: string): readonly string[] {
  const parts = text.split('=').length
  if (parts === 1) return [text]
  return parts === 2 ? [text.replace(/^"+|"+$/g, '')] : (parseCsv(text).rows[0] ?? [text])
}

const metricAndLabel = /^[a-zA-Z_:][a-zA-Z0-9_:]*,[a-zA-Z_][a-zA-Z0-9_]*$/

const split = (list: string): ReadonlySet<string> =>
  new Set(list.split(',').map((value) => value.trim()))

/**
 * Returns the mapping from `metric,label` to values, or an error message if the file is invalid.
 */
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
    if (typeof list !== 'string') return `the value of ${JSON.stringify(key)} is not a string`
    if (!metricAndLabel.test(key)) return `${JSON.stringify(key)} is not metric,label`
    allowed.set(key, split(list))
  }
  return allowed
}
