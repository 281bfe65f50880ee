/** Reads `--tracing-config-file`. Error messages are those of kube-apiserver. */
import type { Gates } from '../api/gates.ts'
import { readBytes } from './files/read-file.ts'
import { readTracingConfig, type TracingConfig } from './files/tracing.ts'
import type { Values } from './values.ts'

/**
 * Reads the tracing configuration. Returns null if no requests are traced. As in kube-apiserver,
 * the file is not read unless the APIServerTracing feature gate is on.
 */
export function readTracing(values: Values, gates: Gates): TracingConfig | null {
  const path = values.string('tracing-config-file')
  if (path === '' || !gates.isOn('APIServerTracing')) return null
  const file = readBytes(path)
  if ('fault' in file) {
    const why = `unable to read tracing configuration from ${JSON.stringify(path)}: ${file.fault}`
    values.fault(`failed to read tracing config: ${why}`)
    return null
  }
  const read = readTracingConfig(file.bytes)
  if ('value' in read) return read.value
  values.fault(
    read.stage === 'decoding'
      ? `failed to read tracing config: unable to decode tracing configuration data: ${read.fault}`
      : `failed to validate tracing configuration: ${read.fault}`,
  )
  return null
}
