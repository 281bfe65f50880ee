import {
  checked,
  type FieldFault,
  forbiddenField,
  invalidShown,
  required,
  tooLong,
} from '../../../api/field-fault.ts'
import type { Gates } from '../../../api/gates.ts'
import { checkDnsSubdomain } from '../../../api/names.ts'
import {
  entriesOf,
  type Fields,
  fieldsOf,
  type Json,
  type KubeObject,
  textOf,
} from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { isEqualAs } from '../../rules/equality.ts'
import { faultsOf } from '../../rules/rule.ts'
import { VALIDATED_ONCE_SINCE } from '../../strategy.ts'
import { inlineVolume } from '../core/persistent-volume.ts'
import { validateDriverName } from './csi-node.ts'

const ERROR_BYTES_MAX = 1024
/**
 * Maximum total size of all keys and values of attachmentMetadata. As in kube-apiserver, the
 * validation error for a message in the status that is longer than `ERROR_BYTES_MAX` also shows
 * this limit.
 */
const METADATA_BYTES_MAX = 256 * 1024

export const volumeAttachmentRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'metadata', 'rules'],
    laterUpdateChecks: { since: VALIDATED_ONCE_SINCE, checks: ['metadata', 'rules'] },
    needsResourceVersion: true,
    returnsDeleted: true,
    statusKeeps: 'metadata',
  },
  prepareCreate: (object) => ({ ...object, status: { attached: false } }),
  validate: (object, gates) => [
    ...validate(object, gates),
    ...validateNames(object, gates.release),
  ],
  validateUpdate: (object, current, gates) => [
    ...validateAgain(object, gates),
    ...validateSame(object, current),
  ],
  status: {
    validateUpdate: (object, _current, gates) => validateAgain(object, gates),
  },
}

/** Validates an update. As in kube-apiserver, releases before 1.35 validate it twice. */
function validateAgain(object: KubeObject, gates: Gates): FieldFault[] {
  const faults = validate(object, gates)
  return gates.release < VALIDATED_ONCE_SINCE ? [...faults, ...faults] : faults
}

function validate(object: KubeObject, gates: Gates): FieldFault[] {
  const { attacher, nodeName, source } = fieldsOf(object['spec'])
  const { attachError, attachmentMetadata, detachError } = fieldsOf(object['status'])
  return [
    ...(textOf(attacher) === '' ? [required('spec.attacher')] : []),
    ...validateSource(fieldsOf(source), 'spec.source', gates),
    ...checked('spec.nodeName', textOf(nodeName), checkDnsSubdomain),
    ...validateMetadata(attachmentMetadata),
    ...validateError(attachError, 'status.attachError'),
    ...validateError(detachError, 'status.detachError'),
  ]
}

/**
 * Validates names of new objects. Stored objects are not validated, because older versions accepted
 * other names.
 */
function validateNames(object: KubeObject, release: number): FieldFault[] {
  const { attacher, source } = fieldsOf(object['spec'])
  const { persistentVolumeName: name } = fieldsOf(source)
  return [
    ...validateDriverName(textOf(attacher), 'spec.attacher', release),
    ...(name === undefined
      ? []
      : checked('spec.source.persistentVolumeName', textOf(name), checkDnsSubdomain)),
  ]
}

function validateSource(
  { inlineVolumeSpec, persistentVolumeName }: Fields,
  path: string,
  gates: Gates,
): FieldFault[] {
  const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (inlineVolumeSpec === undefined && persistentVolumeName === undefined)
    return [required(path, exactlyOne)]
  if (inlineVolumeSpec !== undefined && persistentVolumeName !== undefined)
    return [forbiddenField(path, exactlyOne)]
  if (inlineVolumeSpec !== undefined)
    return faultsOf(inlineVolume, inlineVolumeSpec, `${path}.inlineVolumeSpec`, gates)
  if (textOf(persistentVolumeName) !== '') return []
  return [required(`${path}.persistentVolumeName`, 'must specify non empty persistentVolumeName')]
}

function validateMetadata(metadata: Json | undefined): FieldFault[] {
  const bytes = entriesOf(metadata).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  )
  return bytes > METADATA_BYTES_MAX
    ? [tooLong('status.attachmentMetadata', METADATA_BYTES_MAX)]
    : []
}

function validateError(error: Json | undefined, path: string): FieldFault[] {
  const { message } = fieldsOf(error)
  const isLong = Buffer.byteLength(textOf(message)) > ERROR_BYTES_MAX
  return isLong ? [tooLong(`${path}.message`, METADATA_BYTES_MAX)] : []
}

/**
 * Requires that the spec is unchanged. The error shows a shortened spec, because Go prints pointers
 * as memory addresses.
 */
function validateSame(object: KubeObject, current: KubeObject): FieldFault[] {
  if (isEqualAs('storage/v1 VolumeAttachmentSpec', object['spec'], current['spec'])) return []
  const type = 'storage.VolumeAttachmentSpec'
  const value = { type, json: fieldsOf(object['spec']) }
  return [invalidShown('spec', `${type}{...}`, 'field is immutable', value)]
}
