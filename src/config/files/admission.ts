/**
 * Reads the file of `--admission-control-config-file`, which contains the configurations of
 * admission plugins or the paths of their files. Its kind is AdmissionConfiguration.
 * apiserver.config.k8s.io/v1 and apiserver.k8s.io/v1alpha1 have the same fields. As in
 * kube-apiserver, configurations of plugins that do not run are not read, and only the first entry
 * for a plugin is used.
 */
import { dirname, isAbsolute, join } from 'node:path'
import { type Fields, itemsOf, textOf } from '../../api/object.ts'
import { type ConfigFileType, type FileRead, readConfigFile } from './config-file.ts'
import { fieldNames, type FileFault, headOf, readText } from './decode-file.ts'
import { readBytes } from './read-file.ts'
import { admissionScheme } from './schemes.ts'

export type PluginConfigurations = {
  /** Returns the configuration of a plugin, or undefined if the file has none for this plugin. */
  readonly of: (plugin: string) => { readonly bytes: Buffer } | FileFault | undefined
  /** Names of all plugins in the file, without duplicates, even if there are no such plugins. */
  readonly names: readonly string[]
}

/** Reads the file at `path`. Relative paths in the file are relative to the folder of the file. */
export function readAdmissionConfiguration(path: string): FileRead<PluginConfigurations> {
  const read = readBytes(path)
  if ('fault' in read) {
    return {
      fault: `unable to read admission control configuration from ${JSON.stringify(path)} [${read.fault}]`,
    }
  }
  const { bytes } = read
  if (isUnversioned(bytes)) {
    const of = (plugin: string): { bytes: Buffer } | undefined =>
      unversionedPlugins.has(plugin) ? { bytes } : undefined
    return { value: { of, names: [] } }
  }
  return readConfigFile(bytes, fileType(dirname(path)))
}

const fileType = (folder: string): ConfigFileType<PluginConfigurations> => ({
  scheme: admissionScheme,
  kind: 'AdmissionConfiguration',
  unexpected: (hubName) => `unexpected type: *${hubName}`,
  read: (fields) => ({ value: configurationsOf(fields, folder) }),
})

function configurationsOf({ plugins }: Fields, folder: string): PluginConfigurations {
  const entries = new Map(
    itemsOf(plugins)
      .toReversed()
      .map((entry) => [textOf(entry['name']), entry]),
  )
  return {
    of: (plugin) => {
      const { configuration, path: given } = entries.get(plugin) ?? {}
      if (typeof configuration === 'string') return { bytes: Buffer.from(configuration) }
      const path = textOf(given)
      if (path === '') return undefined
      return readBytes(isAbsolute(path) ? path : join(folder, path))
    },
    names: [...new Set(itemsOf(plugins).map(({ name }) => textOf(name)))],
  }
}

/**
 * For these plugins, the whole file can be the configuration of one plugin, without an
 * AdmissionConfiguration around it. kube-apiserver still accepts this old format.
 */
const unversionedPlugins: ReadonlySet<string> = new Set(['ImagePolicyWebhook', 'PodNodeSelector'])

function isUnversioned(bytes: Buffer): boolean {
  const read = readText(bytes)
  const head = 'fault' in read ? read : headOf(read.json)
  if (
    'fault' in read ||
    'fault' in head ||
    admissionScheme.find(head.apiVersion, head.kind) !== undefined
  )
    return false
  const names = fieldNames(read.json)
  return names.includes('imagePolicy') || names.includes('podNodeSelectorPluginConfig')
}
