/** Reads the body of a patch and returns the change of the current object. */
import { type ApiError, invalid, notFound } from '../../api/errors.ts'
import { invalidValue } from '../../api/field-fault.ts'
import { printOwners } from '../../objects/apply/managers.ts'
import { type KubeObject, withManagedFields } from '../../api/object.ts'
import type { FieldValidation } from '../../objects/codec/decode-body.ts'
import { atOnce, inSlices } from '../../lib/scheduling/slices.ts'
import { refusesScalars } from '../../objects/patch/json-patch.ts'
import { applyPatch, type Patch } from '../../objects/patch/patches.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { trackingOf } from './owners.ts'
import type { Change } from './write/write.ts'

type PatchInput = Pick<Patch, 'form'> & {
  readonly body: Buffer
  readonly fieldValidation: FieldValidation
}

/**
 * Maximum length of a merge patch that is applied in one step. A longer patch is applied in slices,
 * because the time depends on the length multiplied by the depth.
 */
const SHORT_CHARACTERS = 1024

/**
 * Returns the change that a patch describes. Errors in the patch are reported only if the object
 * exists.
 */
export function readPatch(
  request: ResourceRequest,
  { form, body, fieldValidation }: PatchInput,
): Change {
  const { resource, name, context } = request
  const expected = request.view ?? resource
  const patch = {
    form,
    text: body.toString('utf8'),
    isChecked: fieldValidation !== 'Ignore',
    isStrict: refusesScalars(resource.release),
  }
  return async (current, stored): Promise<KubeObject> => {
    if (current === undefined) throw notFound(resource, name)
    context.enter('patch')
    const slices = context.isLarge ? context.slices : undefined
    const shown = withShownOwners(current, { request, stored })
    const steps = applyPatch(shown, { ...patch, slices }, expected)
    // Only short merge patches are applied in one step. Patches of other types can take long even
    // if they are small, because they can copy large values or merge the same list many times.
    const isShort =
      slices === undefined && form === 'merge' && patch.text.length <= SHORT_CHARACTERS
    const patched = isShort ? atOnce(steps) : await inSlices(steps, slices, context.signal)
    const refuse = async (why: string): Promise<never> => {
      throw notDecoded(
        context.isLarge ? await context.inParts(patched.shown) : patched.shown(),
        why,
      )
    }
    if ('fault' in patched) return refuse(patched.fault)
    const { object, strictFaults } = patched
    if (strictFaults.length > 0 && fieldValidation === 'Strict') {
      return refuse(`strict decoding error: ${strictFaults.join(', ')}`)
    }
    if (fieldValidation === 'Warn') for (const fault of strictFaults) context.warn(fault)
    return object
  }
}

/**
 * Returns the object with the managedFields for the path. A subresource such as Scale has no
 * managedFields when clients read it, but has them while a patch is applied.
 */
function withShownOwners(
  current: KubeObject,
  {
    request,
    stored,
  }: { readonly request: ResourceRequest; readonly stored: KubeObject | undefined },
): KubeObject {
  return request.view === undefined
    ? current
    : withManagedFields(current, printOwners(trackingOf(request, stored).owners))
}

const notDecoded = (shown: string, why: string): ApiError =>
  invalid({ group: '', kind: '' }, '', [invalidValue('patch', shown, why)])
