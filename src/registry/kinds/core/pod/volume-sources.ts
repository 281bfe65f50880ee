/** Rules for volume types. Most of them apply to both volumes of Pods and PersistentVolumes. */
import {
  forbiddenField,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../../../api/field-fault.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../../api/names.ts'
import { entriesOf, fieldsOf, textOf, textsOf } from '../../../../api/object.ts'
import { nanosOf } from '../../../../api/quantity.ts'
import {
  all,
  eachIn,
  fields,
  ifPresent,
  isEmpty,
  needed,
  neededFields,
  type Rule,
  unlessEmpty,
} from '../../../rules/rule.ts'
import {
  absolutePath,
  atMostBytes,
  between,
  goTexts,
  named,
  oneOf,
  relativePath,
  withoutBacksteps,
} from '../../../rules/scalars.ts'

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]
const DRIVER_BYTES_MAX = 63
const TENANT_CHARACTERS_MAX = 64

const partition: Rule = unlessEmpty(between(1, 255))
const lun: Rule = between(0, 255)
const secretName: Rule = ifPresent(neededFields('name'))

const emptyDir: Rule = (value, path, { faults }) => {
  const { sizeLimit } = fieldsOf(value)
  if (sizeLimit === undefined || nanosOf(textOf(sizeLimit)) >= 0n) return
  faults.push(
    forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity'),
  )
}

const iscsiName = (wrongStart: string): Rule =>
  named((name) => {
    if (!/^(iqn|eui|naa)/.test(name)) return [wrongStart]
    const form = iscsiForms[name.slice(0, 3)]
    return form?.test(name) === true ? [] : [wrongForm]
  })
const wrongForm = 'must be valid format'
const iscsiForms: { readonly [prefix: string]: RegExp } = {
  iqn: /^iqn\.\d{4}-\d{2}\.([a-z0-9]+(?:[-.][a-z0-9]+)*)(:[^,;*&$|\s]+)?$/,
  eui: /^eui\.[a-zA-Z0-9]{16}$/,
  naa: /^naa\.[a-zA-Z0-9]{32}$/,
}

/**
 * Returns the rule for an iSCSI volume. `wrongStart` is the error message for a name with an
 * unknown prefix. Pods and PersistentVolumes have different error messages.
 */
export const iscsi = (wrongStart = wrongForm): Rule =>
  all(
    fields({ targetPortal: needed(), iqn: needed(iscsiName(wrongStart)), lun }),
    (value, path, { faults }) => {
      const { secretRef, chapAuthDiscovery, chapAuthSession } = fieldsOf(value)
      const needsSecret = chapAuthDiscovery === true || chapAuthSession === true
      if (needsSecret && secretRef === undefined) faults.push(required(`${path}.secretRef`))
      else if (secretRef !== undefined && isEmpty(fieldsOf(secretRef)['name'])) {
        faults.push(required(`${path}.secretRef.name`))
      }
    },
    (value, path, check) => {
      const { initiatorName } = fieldsOf(value)
      if (initiatorName !== undefined)
        iscsiName(wrongStart)(initiatorName, `${path}.initiatorname`, check)
    },
  )

const fc: Rule = (value, path, check) => {
  const { targetWWNs, wwids, lun: unit } = fieldsOf(value)
  const names = textsOf(targetWWNs)
  const hasIds = textsOf(wwids).length > 0
  const at = `${path}.targetWWNs`
  if (names.length === 0 && !hasIds) {
    check.faults.push(required(at, 'must specify either targetWWNs or wwids, but not both'))
  }
  if (names.length > 0 && hasIds) {
    check.faults.push(
      invalidShown(at, goTexts(names), 'targetWWNs and wwids can not be specified simultaneously'),
    )
  }
  if (names.length === 0) return
  if (unit === undefined)
    check.faults.push(required(`${path}.lun`, 'lun is required if targetWWNs is specified'))
  else lun(unit, `${path}.lun`, check)
}

const flocker: Rule = (value, path, { faults }) => {
  const name = textOf(fieldsOf(value)['datasetName'])
  const id = textOf(fieldsOf(value)['datasetUUID'])
  if (name === '' && id === '')
    faults.push(required(path, 'one of datasetName and datasetUUID is required'))
  if (name !== '' && id !== '') {
    faults.push(
      invalidValue(
        path,
        'resource',
        'datasetName and datasetUUID can not be specified simultaneously',
      ),
    )
  }
  if (name.includes('/'))
    faults.push(invalidValue(`${path}.datasetName`, name, "must not contain '/'"))
}

const reservedOption = /^([^/]*\.)?(kubernetes\.io|k8s\.io)\//i

const flexVolume: Rule = (value, path, check) => {
  const { driver, options } = fieldsOf(value)
  if (textOf(driver) === '') check.faults.push(required(`${path}.driver`))
  eachIn(entriesOf(options), check, ([key], _, { faults }) => {
    if (!reservedOption.test(key)) return
    const why = 'kubernetes.io and k8s.io namespaces are reserved'
    faults.push(invalidValue(`${path}.options[${key}]`, key, why))
  })
}

const managedUri =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
const sharedUri = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'

const azureDisk: Rule = all(
  fields({ diskName: needed(), diskURI: needed() }),
  (value, path, { faults }) => {
    const { cachingMode, kind, diskURI } = fieldsOf(value)
    const uri = textOf(diskURI)
    const modes = ['None', 'ReadOnly', 'ReadWrite']
    const kinds = ['Dedicated', 'Managed', 'Shared']
    if (cachingMode !== undefined && !modes.includes(textOf(cachingMode))) {
      faults.push(notSupported(`${path}.cachingMode`, textOf(cachingMode), modes))
    }
    if (kind !== undefined && !kinds.includes(textOf(kind)))
      faults.push(notSupported(`${path}.kind`, textOf(kind), kinds))
    else if (kind === 'Managed' && !uri.startsWith('/subscriptions/')) {
      faults.push(notSupported(`${path}.diskURI`, uri, [managedUri]))
    } else if (kind !== 'Managed' && kind !== undefined && !uri.startsWith('https://')) {
      faults.push(notSupported(`${path}.diskURI`, uri, [sharedUri]))
    }
  },
)

const registryRule = 'must be a host:port pair or multiple pairs separated by commas'

const quobyte: Rule = (value, path, { faults }) => {
  const registry = textOf(fieldsOf(value)['registry'])
  const tenant = textOf(fieldsOf(value)['tenant'])
  if (registry === '') faults.push(required(`${path}.registry`, registryRule))
  else if (tenant.length > TENANT_CHARACTERS_MAX) {
    faults.push(
      required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'),
    )
  } else {
    for (const pair of registry.split(',')) {
      if (!/^(\[[^\]]*\]|[^:]*):[^:]*$/.test(pair))
        faults.push(invalidValue(`${path}.registry`, registry, registryRule))
    }
  }
  if (isEmpty(fieldsOf(value)['volume'])) faults.push(required(`${path}.volume`))
}

/** The first release in which a missing driver name is only one error. */
export const ONE_ERROR_SINCE = 35

/** Rule for the name of a CSI driver, which is a DNS subdomain. */
export const driverName: Rule = (value, path, check) => {
  if (isEmpty(value)) check.faults.push(required(path))
  if (isEmpty(value) && check.gates.release >= ONE_ERROR_SINCE) return
  atMostBytes(DRIVER_BYTES_MAX)(value, path, check)
  named((name) => checkDnsSubdomain(name.toLowerCase()))(value, path, check)
}

const csi: Rule = (value, path, check) => {
  const { driver, nodePublishSecretRef } = fieldsOf(value)
  driverName(driver, `${path}.driver`, check)
  if (nodePublishSecretRef === undefined) return
  const name = fieldsOf(nodePublishSecretRef)['name']
  if (isEmpty(name)) check.faults.push(required(`${path}.nodePublishSecretRef.name`))
  // As in kube-apiserver, the path in the error does not contain `nodePublishSecretRef`.
  else named(checkDnsSubdomain)(name, `${path}.name`, check)
}

export type VolumeSource = {
  readonly rule: Rule
  /** Name of the source in errors, if it differs from the name of the field. */
  readonly shownAs?: string
  /** Name of the source in the error that is reported if several sources are set. */
  readonly extraAs?: string
}

/** Rule for a host path. If the path is missing, the other fields are not validated. */
const hostPath: Rule = (value, path, check) => {
  if (isEmpty(fieldsOf(value)['path'])) check.faults.push(required(`${path}.path`))
  else
    fields({ path: withoutBacksteps, type: ifPresent(oneOf(...hostPathTypes)) })(value, path, check)
}

/** Volume sources whose rules do not depend on the Pod. */
export const volumeSources: { readonly [source: string]: VolumeSource } = {
  emptyDir: { rule: emptyDir },
  hostPath: { rule: hostPath },
  gitRepo: { rule: fields({ repository: needed(), directory: unlessEmpty(relativePath) }) },
  gcePersistentDisk: { rule: fields({ pdName: needed(), partition }), shownAs: 'persistentDisk' },
  awsElasticBlockStore: { rule: fields({ volumeID: needed(), partition }) },
  nfs: { rule: all(fields({ server: needed() }), fields({ path: all(needed(), absolutePath) })) },
  iscsi: { rule: iscsi(`${wrongForm} starting with iqn, eui, or naa`) },
  glusterfs: { rule: neededFields('endpoints', 'path') },
  flocker: { rule: flocker },
  persistentVolumeClaim: { rule: neededFields('claimName') },
  rbd: { rule: neededFields('monitors', 'image') },
  cinder: { rule: fields({ volumeID: needed(), secretRef: secretName }) },
  cephfs: { rule: neededFields('monitors'), extraAs: 'cephFS' },
  quobyte: { rule: quobyte },
  fc: { rule: fc },
  flexVolume: { rule: flexVolume },
  azureFile: { rule: neededFields('secretName', 'shareName') },
  vsphereVolume: { rule: neededFields('volumePath') },
  photonPersistentDisk: { rule: neededFields('pdID') },
  portworxVolume: { rule: neededFields('volumeID') },
  azureDisk: { rule: azureDisk },
  storageos: {
    rule: fields({
      volumeName: needed(named(checkDnsLabel)),
      volumeNamespace: unlessEmpty(named(checkDnsLabel)),
      secretRef: secretName,
    }),
  },
  scaleIO: { rule: neededFields('gateway', 'system', 'volumeName') },
  csi: { rule: csi },
}
