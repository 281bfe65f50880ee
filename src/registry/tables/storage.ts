/** Tables of volumes, claims and storage classes. */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
  textsOf,
} from '../../api/object.ts'
import type { TableKind } from '../../api/table.ts'
import { createdAgo, nameOf, orUnset, specOf, statusOf, table } from './columns.ts'

const modes: ReadonlyMap<string, string> = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
])

/** Formats access modes in a fixed order, without duplicates. */
function printModes(given: Json | undefined): string {
  const asked = new Set(textsOf(given))
  return [...modes].flatMap(([mode, short]) => (asked.has(mode) ? [short] : [])).join(',')
}

const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

/**
 * Returns the name of the storage class. The annotation takes precedence over the field, although
 * it is older.
 */
const classOf = ({ metadata, ...object }: KubeObject): string =>
  metadata.annotations?.[classAnnotation] ?? textOf(fieldsOf(object['spec'])['storageClassName'])

const phaseOf = (object: KubeObject): string =>
  object.metadata.deletionTimestamp === undefined
    ? textOf(statusOf(object)['phase'])
    : 'Terminating'

const storageOf = (amounts: Json | undefined): string => textOf(fieldsOf(amounts)['storage']) || '0'

const persistentVolumes = table(
  'Name | Capacity | Access Modes | Reclaim Policy | Status | Claim | StorageClass | VolumeAttributesClass | Reason | Age | VolumeMode*',
  (object) => {
    const spec = specOf(object)
    const { namespace, name } = fieldsOf(spec['claimRef'])
    return [
      nameOf(object),
      storageOf(spec['capacity']),
      printModes(spec['accessModes']),
      textOf(spec['persistentVolumeReclaimPolicy']),
      phaseOf(object),
      name === undefined ? '' : `${textOf(namespace)}/${textOf(name)}`,
      classOf(object),
      orUnset(textOf(spec['volumeAttributesClassName'])),
      textOf(statusOf(object)['reason']),
      createdAgo(object),
      orUnset(textOf(spec['volumeMode'])),
    ]
  },
)

/**
 * Table of PersistentVolumeClaims. Capacity and access modes are empty until the claim is bound to
 * a volume.
 */
const persistentVolumeClaims = table(
  'Name | Status | Volume | Capacity | Access Modes | StorageClass | VolumeAttributesClass | Age | VolumeMode*',
  (object) => {
    const spec = specOf(object)
    const { accessModes, capacity } = statusOf(object)
    const volume = textOf(spec['volumeName'])
    return [
      nameOf(object),
      phaseOf(object),
      volume,
      volume === '' ? '' : storageOf(capacity),
      volume === '' ? '' : printModes(accessModes),
      classOf(object),
      orUnset(textOf(spec['volumeAttributesClassName'])),
      createdAgo(object),
      orUnset(textOf(spec['volumeMode'])),
    ]
  },
)

const defaultAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
] as const

const storageClasses = table(
  'Name | Provisioner | ReclaimPolicy | VolumeBindingMode | AllowVolumeExpansion | Age',
  (object) => {
    const isDefault = defaultAnnotations.some(
      (name) => object.metadata.annotations?.[name] === 'true',
    )
    return [
      `${nameOf(object)}${isDefault ? ' (default)' : ''}`,
      textOf(object['provisioner']),
      textOf(object['reclaimPolicy']),
      textOf(object['volumeBindingMode']),
      object['allowVolumeExpansion'] === true,
      createdAgo(object),
    ]
  },
)

const attributesAnnotation = 'volumeattributesclass.alpha.kubernetes.io/is-default-class'

const volumeAttributesClasses = table('Name | DriverName | Age', (object) => [
  `${nameOf(object)}${object.metadata.annotations?.[attributesAnnotation] === 'true' ? ' (default)' : ''}`,
  textOf(object['driverName']),
  createdAgo(object),
])

const volumeAttachments = table(
  'Name | Attacher | PV | Node | Attached:boolean | Age',
  (object) => {
    const { attacher, source, nodeName } = specOf(object)
    return [
      nameOf(object),
      textOf(attacher),
      textOf(fieldsOf(source)['persistentVolumeName']),
      textOf(nodeName),
      statusOf(object)['attached'] === true,
      createdAgo(object),
    ]
  },
)

const csiDrivers = table(
  'Name | AttachRequired:boolean | PodInfoOnMount:boolean | StorageCapacity:boolean | TokenRequests | RequiresRepublish:boolean | Modes | Age',
  (object) => {
    const spec: Fields = specOf(object)
    const is = (field: string): boolean => spec[field] === true
    return [
      nameOf(object),
      spec['attachRequired'] !== false,
      is('podInfoOnMount'),
      is('storageCapacity'),
      orUnset(
        itemsOf(spec['tokenRequests'])
          .map(({ audience }) => textOf(audience))
          .join(','),
      ),
      is('requiresRepublish'),
      textsOf(spec['volumeLifecycleModes']).join(','),
      createdAgo(object),
    ]
  },
)

const csiNodes = table('Name | Drivers:integer | Age', (object) => [
  nameOf(object),
  itemsOf(specOf(object)['drivers']).length,
  createdAgo(object),
])

export const storageTables: readonly (readonly [string, TableKind])[] = [
  ['PersistentVolume', persistentVolumes],
  ['PersistentVolumeClaim', persistentVolumeClaims],
  ['StorageClass.storage.k8s.io', storageClasses],
  ['VolumeAttachment.storage.k8s.io', volumeAttachments],
  ['VolumeAttributesClass.storage.k8s.io', volumeAttributesClasses],
  ['CSIDriver.storage.k8s.io', csiDrivers],
  ['CSINode.storage.k8s.io', csiNodes],
]
