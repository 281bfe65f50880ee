/**
 * Reads and validates the flags for encryption at rest and the file that they name. Error messages
 * are those of kube-apiserver.
 */
import type { Gates } from '../api/gates.ts'
import {
  type EncryptionRule,
  readEncryptionConfiguration,
  rereadEncryptionConfiguration,
} from './files/encryption.ts'
import type { FileRead } from './files/config-file.ts'
import { readBytes } from './files/read-file.ts'
import type { Values } from './values.ts'

type EncryptionFlagName =
  | 'encryption-provider-config'
  | 'encryption-provider-config-automatic-reload'

export type EncryptionConfig = {
  readonly rules: readonly EncryptionRule[]
  readonly path: string
  /**
   * The content of the file from which the current configuration was read. Null if the server does
   * not reload the file when it changes.
   */
  readonly reloaded: Buffer | null
}

/** Reads the configuration. Returns null if no resources are encrypted. */
export function readEncryption(
  values: Pick<Values<EncryptionFlagName>, 'string' | 'boolean' | 'fault'>,
  gates: Gates,
): EncryptionConfig | null {
  const path = values.string('encryption-provider-config')
  const isReloaded = values.boolean('encryption-provider-config-automatic-reload')
  if (path === '') {
    if (isReloaded) {
      values.fault(
        '--encryption-provider-config-automatic-reload must be set with --encryption-provider-config',
      )
    }
    return null
  }
  const file = readBytes(path)
  if ('fault' in file) {
    const what = `error reading encryption provider configuration file ${JSON.stringify(path)}`
    values.fault(`error while parsing file: error while loading file: ${what}: ${file.fault}`)
    return null
  }
  const read = readEncryptionConfiguration(file.bytes, { path, gates, isReloaded })
  if (!('fault' in read))
    return { rules: read.value, path, reloaded: isReloaded ? file.bytes : null }
  values.fault(read.fault)
  return null
}

/** Reads the file again after it has changed while the server runs. */
export const rereadEncryption = (
  bytes: Buffer,
  path: string,
  gates: Gates,
): Promise<FileRead<readonly EncryptionRule[]>> =>
  rereadEncryptionConfiguration(bytes, { path, gates, isReloaded: true })
