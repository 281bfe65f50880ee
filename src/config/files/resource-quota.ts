/**
 * Reads the configuration of the ResourceQuota plugin, which defines resources that can be used
 * only if a quota covers them. Its kind is ResourceQuotaConfiguration in
 * apiserver.config.k8s.io/v1, or Configuration in resourcequota.admission.k8s.io/v1beta1 and
 * v1alpha1. All versions have the same fields.
 */
import { describeFaults } from '../../api/aggregate.ts'
import { required } from '../../api/field-fault.ts'
import { type Fields, itemsOf, textOf, textsOf } from '../../api/object.ts'
import { type ConfigFileType, type FileRead, readConfigFile } from './config-file.ts'
import { resourceQuotaScheme } from './schemes.ts'

export type LimitedResource = {
  readonly group: string
  readonly plural: string
  /**
   * Substrings such as `.storageclass.storage.k8s.io/requests.storage`. Resources whose names in
   * quotas contain one of them can be used only if a quota covers them.
   */
  readonly matchContains: readonly string[]
  readonly matchScopes: readonly LimitedScope[]
}

export type LimitedScope = {
  readonly name: string
  readonly operator: string
  readonly values: readonly string[]
}

export const readLimitedResources = (bytes: Buffer): FileRead<readonly LimitedResource[]> =>
  readConfigFile(bytes, fileType)

const fileType: ConfigFileType<readonly LimitedResource[]> = {
  scheme: resourceQuotaScheme,
  kind: 'Configuration',
  read: ({ limitedResources }) => {
    const limited = itemsOf(limitedResources).map(limitedOf)
    const faults = limited.flatMap(({ plural }, at) =>
      plural === '' ? [required(`limitedResources[${at}].resource`)] : [],
    )
    return faults.length > 0 ? { fault: describeFaults(faults) } : { value: limited }
  },
}

const limitedOf = ({
  apiGroup,
  resource,
  matchContains,
  matchScopes,
}: Fields): LimitedResource => ({
  group: textOf(apiGroup),
  plural: textOf(resource),
  matchContains: textsOf(matchContains),
  matchScopes: itemsOf(matchScopes).map(({ scopeName, operator, values }) => ({
    name: textOf(scopeName),
    operator: textOf(operator),
    values: textsOf(values),
  })),
})
