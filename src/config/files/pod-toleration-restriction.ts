/**
 * Reads the configuration of the PodTolerationRestriction plugin: the tolerations for namespaces
 * that specify none in annotations. Its kind is Configuration
 * (podtolerationrestriction.admission.k8s.io/v1alpha1). As in kube-apiserver, unknown fields are
 * ignored.
 */
import { olderLabelText } from '../../api/names.ts'
import { type Fields, itemsOf } from '../../api/object.ts'
import { tolerationFaults } from '../../api/toleration-faults.ts'
import { type ConfigFileType, type FileRead, readConfigFile } from './config-file.ts'
import { podTolerationRestrictionScheme } from './schemes.ts'

export type PodTolerations = {
  /** Tolerations that are added to every pod. */
  readonly defaults: readonly Fields[]
  /** Permitted tolerations. If empty, pods can have any tolerations. */
  readonly whitelist: readonly Fields[]
}

export const noPodTolerations: PodTolerations = { defaults: [], whitelist: [] }

export const readPodTolerations = (bytes: Buffer): FileRead<PodTolerations> =>
  readConfigFile(bytes, fileType)

const fileType: ConfigFileType<PodTolerations> = {
  scheme: podTolerationRestrictionScheme,
  kind: 'Configuration',
  isLenient: true,
  read: ({ default: defaults, whitelist }) => {
    const value = { defaults: itemsOf(defaults), whitelist: itemsOf(whitelist) }
    const faults = [
      ...listFaults(value.defaults, 'default'),
      ...listFaults(value.whitelist, 'whitelist'),
    ]
    return faults.length > 0 ? { fault: `invalid config: [${faults.join(' ')}]` } : { value }
  },
}

const listFaults = (list: readonly Fields[], name: string): string[] =>
  list
    .flatMap((one, at) => tolerationFaults(one, `podtolerationrestriction.${name}[${at}]`))
    .map(({ path, message }) => olderLabelText(`${path}: ${message}`))
