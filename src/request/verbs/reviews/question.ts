/**
 * Serves kinds that are created only to get a response, such as reviews. The steps of a write are
 * executed, but the object is not stored.
 */
import { attributesOf } from '../admission-attributes.ts'
import { invalid } from '../../../api/errors.ts'
import type { FieldFault } from '../../../api/field-fault.ts'
import { type KubeObject, withManagedFields } from '../../../api/object.ts'
import type { ApiResponse } from '../../../api/request.ts'
import { negotiate } from '../../../objects/codec/negotiate.ts'
import type { Resource } from '../../../registry/resource.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import type { WriteAccess } from '../access.ts'
import { answer, printed } from '../answer.ts'
import { ownersAfterCreate } from '../write/record-owners.ts'
import { shownLarge } from '../write/written.ts'
import { readObject } from '../read-body.ts'
import { represent } from '../represent/represent.ts'
import { parseWriteOptions } from '../write-options.ts'

export type Review = (request: ResourceRequest, access: WriteAccess) => Promise<ApiResponse>

type Question = {
  readonly object: KubeObject
  /**
   * Runs validating admission, which can reject the request. Must be called after the kind's own
   * checks. The object must contain the changes that these checks have made.
   */
  readonly validate: (object: KubeObject) => Promise<void>
  readonly respond: (object: KubeObject) => Promise<ApiResponse>
}

type ReviewOptions = {
  /** Kind of the body, if it differs from the kind of the resource in the path. */
  readonly shown?: Resource
  /**
   * Returns the errors of a review that is too large to process. Such a review is rejected as soon
   * as it is decoded.
   */
  readonly validateSize?: ((object: KubeObject) => readonly FieldFault[]) | undefined
}

/** Returns the review that the client sent, with the changes of mutating admission. */
export async function readReview(
  request: ResourceRequest,
  access: WriteAccess,
  { shown = request.resource, validateSize }: ReviewOptions = {},
): Promise<Question> {
  const { http } = request
  const show = represent(negotiate(http, { hasTable: false }), access.forms, request)
  const options = parseWriteOptions(http.query, 'CreateOptions', request.resource.release)
  const asked = { ...request, resource: shown }
  const given = await readObject(asked, options.fieldValidation, access)
  const faults = validateSize?.(given) ?? []
  if (faults.length > 0) throw invalid({ group: shown.group, kind: shown.kind }, '', faults)
  const own = (): KubeObject =>
    withManagedFields(given, ownersAfterCreate(asked, given, { options, access }))
  const owned = request.context.isLarge ? await request.context.inParts(own) : own()
  const attributes = attributesOf(request, {
    operation: 'CREATE',
    options,
    object: owned,
    shape: shown.shape,
  })
  const object = (await access.admission.mutate(attributes)) ?? owned
  return {
    object,
    validate: async (checked) => access.admission.validate({ ...attributes, object: checked }),
    respond: async (result) => {
      const written = await shownLarge(asked, result)
      return answer(
        201,
        show,
        printed(request.context, () => show.written(written, shown.shape)),
      )
    },
  }
}
