/**
 * Rules for the volume sources of a PersistentVolume. Most sources are the same as in Pods, but
 * references to Secrets have a namespace.
 */
import { forbiddenField, invalidValue, required } from '../../../api/field-fault.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../api/names.ts'
import { fieldsOf, textOf } from '../../../api/object.ts'
import {
  all,
  fields,
  ifPresent,
  needed,
  neededFields,
  type Rule,
  unlessEmpty,
} from '../../rules/rule.ts'
import { named, withoutBacksteps } from '../../rules/scalars.ts'
import { driverName, iscsi, type VolumeSource, volumeSources } from './pod/volume-sources.ts'

const secret: Rule = ifPresent(
  fields({ name: needed(named(checkDnsSubdomain)), namespace: needed(named(checkDnsLabel)) }),
)

const glusterNamespace: Rule = ifPresent((value, path, check) => {
  const why = 'if the endpointnamespace is set, it must be a valid namespace name'
  if (textOf(value) === '') check.faults.push(invalidValue(path, '', why))
  else named(checkDnsLabel)(value, path, check)
})

const own: { readonly [source: string]: VolumeSource } = {
  azureFile: {
    rule: all(
      neededFields('secretName', 'shareName'),
      fields({ secretNamespace: ifPresent(needed()) }),
    ),
  },
  cinder: {
    rule: fields({ volumeID: needed(), secretRef: ifPresent(neededFields('name', 'namespace')) }),
  },
  csi: {
    rule: fields({
      driver: driverName,
      volumeHandle: needed(),
      controllerPublishSecretRef: secret,
      controllerExpandSecretRef: secret,
      nodePublishSecretRef: secret,
      nodeExpandSecretRef: secret,
    }),
  },
  glusterfs: {
    rule: all(neededFields('endpoints', 'path'), fields({ endpointsNamespace: glusterNamespace })),
  },
  iscsi: { rule: iscsi() },
  local: { rule: fields({ path: needed(withoutBacksteps) }) },
  storageos: {
    rule: fields({
      volumeName: needed(named(checkDnsLabel)),
      volumeNamespace: unlessEmpty(named(checkDnsLabel)),
      secretRef: ifPresent(neededFields('name', 'namespace')),
    }),
  },
}

/** Names of the sources, in the order in which kube-apiserver validates them. */
export const sourceNames = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const

/**
 * Rule for the source of a PersistentVolume. Exactly one source is allowed. As in kube-apiserver, a
 * flexVolume is accepted together with a source that precedes it in `sourceNames`.
 */
export const volumeSource: Rule = (value, path, check) => {
  const spec = fieldsOf(value)
  const sources = sourceNames.filter((name) => spec[name] !== undefined)
  if (sources.length === 0) check.faults.push(required(path, 'must specify a volume type'))
  for (const [index, name] of sources.entries()) {
    const {
      rule,
      shownAs = name,
      extraAs = name,
    } = own[name] ?? volumeSources[name] ?? { rule: () => {} }
    if (index > 0 && name !== 'flexVolume') {
      check.faults.push(
        forbiddenField(`${path}.${extraAs}`, 'may not specify more than 1 volume type'),
      )
      continue
    }
    rule(spec[name], `${path}.${shownAs}`, check)
    if (name === 'local' && spec['nodeAffinity'] === undefined) {
      check.faults.push(required(`${path}.nodeAffinity`, 'Local volume requires node affinity'))
    }
  }
}
