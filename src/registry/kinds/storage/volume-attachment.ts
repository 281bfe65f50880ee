import { checked, type FieldFault, forbiddenField, invalidShown, required, tooLong } from '../../../api/field-fault.ts'
import { checkDnsSubdomain } from '../../../api/names.ts'
import { type Fields, fieldsOf, type Json, type KubeObject, textOf, textsOf } from '../../../api/object.ts'
import { isSame } from '../../../schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateDriverName } from './csi-node.ts'

const ERROR_BYTES_MAX = 1024
/** Keys and values together. Too long errors, too, are told to be more than this. */
const METADATA_BYTES_MAX = 256 * 1024

export const volumeAttachmentRules: KindRules = {
  prepareCreate: (object) => ({ ...object, status: { attached: false } }),
  validate: (object) => validate(object),
  // Looked at twice there, the first time without the status's due.
  validateUpdate: (object, current) => [...validate(object), ...validateSame(object, current), ...validate(object)],
  subresourceRules: {
    status: {
      prepareUpdate: (object, current) => {
        const { name, namespace, uid, resourceVersion } = object.metadata
        const told = Object.entries({ name, namespace, uid, resourceVersion }).filter(([, value]) => value !== undefined)
        const status = withoutErrorCodes(fieldsOf(object['status']))
        return { ...current, metadata: { ...current.metadata, ...Object.fromEntries(told) }, status }
      },
      validateUpdate: (object) => [...validate(object), ...validate(object)],
    },
  },
}
