/** Reads `--egress-selector-config-file`. Error messages are those of kube-apiserver. */
import type { EgressConfig } from '../net/egress/egress-config.ts'
import { readEgressConfiguration } from './files/egress.ts'
import { readBytes } from './files/read-file.ts'
import type { Values } from './values.ts'

const prefixes = {
  reading: 'failed to read egress selector config: ',
  validating: 'failed to validate egress selector configuration: ',
  building: '',
} as const

/**
 * Reads the configuration of proxies. Returns null if the flag is not set, because all connections
 * are then direct.
 */
export function readEgress(values: Values): EgressConfig | null {
  const path = values.string('egress-selector-config-file')
  if (path === '') return null
  const file = readBytes(path)
  if ('fault' in file) {
    const why = `unable to read egress selector configuration from ${JSON.stringify(path)} [${file.fault}]`
    values.fault(`${prefixes.reading}${why}`)
    return null
  }
  const read = readEgressConfiguration(file.bytes)
  if ('value' in read) return read.value
  values.fault(`${prefixes[read.stage]}${read.fault}`)
  return null
}
