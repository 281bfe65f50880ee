/** The body of a patch as a change of the object that is there. */
import { type ApiError, invalid, notFound } from '../api/errors.ts'
import { invalidValue } from '../api/field-fault.ts'
import type { KubeObject } from '../api/object.ts'
import { decodePatched, type Expected, type FieldValidation } from '../codec/decode-body.ts'
import { objectText } from '../codec/object.ts'
import type { PatchForm } from '../codec/patch-form.ts'
import { applyJsonPatch, applyMergePatch, type Patch, type Patched } from '../patch/patches.ts'
import { type ResourceRequest, viewOf } from '../registry/resource.ts'
import type { Change } from './write.ts'

type ReadOptions = { readonly form: Exclude<PatchForm, 'apply'>; readonly fieldValidation: FieldValidation }

/** A patch is read anew each time, since applying uses it up; what is wrong with it is told only where there is an object. */
export function readPatch(request: ResourceRequest, body: Buffer, { form, fieldValidation }: ReadOptions): Change {
  const { resource, name, context } = request
  const expected = viewOf(request) ?? resource
  const patch = { text: body.toString('utf8'), isChecked: fieldValidation !== 'Ignore' }
  return (current): KubeObject => {
    if (current === undefined) throw notFound(resource, name)
    const { text, shown, strictFaults } = applied(form, current, { patch, expected })
    const decoded = decodePatched(text, expected)
    if ('fault' in decoded) throw notDecoded(shown, decoded.fault)
    const faults = [...strictFaults, ...decoded.strictFaults]
    if (faults.length > 0 && fieldValidation === 'Strict') {
      throw notDecoded(shown, `strict decoding error: ${faults.join(', ')}`)
    }
    if (fieldValidation === 'Warn') for (const fault of faults) context.warn(fault)
    return decoded.object
  }
}

function applied(
  form: ReadOptions['form'],
  current: KubeObject,
  { patch, expected }: { readonly patch: Patch; readonly expected: Expected },
): Patched {
  const document = objectText(current, expected.shape.struct)
  switch (form) {
    case 'json':
      return applyJsonPatch(document, patch)
    case 'merge':
      return applyMergePatch(document, patch)
    case 'strategic':
      return applyMergePatch(document, patch)
  }
}

const notDecoded = (shown: string, why: string): ApiError =>
  invalid({ group: '', kind: '' }, '', [invalidValue('patch', shown, why)])
