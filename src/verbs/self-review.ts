/** SelfSubjectReview: who the server takes the caller for. Nothing is stored. */
import type { KubeObject } from '../api/object.ts'
import type { ApiResponse } from '../api/request.ts'
import { negotiate } from '../codec/negotiate.ts'
import { apiVersionOf, type ResourceRequest } from '../registry/resource.ts'
import type { WriteAccess } from './access.ts'
import { readObject } from './read-body.ts'
import { represent } from './represent/represent.ts'
import { parseWriteOptions } from './write-options.ts'

export async function reviewSelf(request: ResourceRequest, access: WriteAccess): Promise<ApiResponse> {
  const { resource, user, http } = request
  const show = represent(negotiate(http, { hasTable: false }), access.forms, http.query)
  const options = parseWriteOptions(http.query, 'CreateOptions')
  await readObject(request, options.fieldValidation, access)
  const review: KubeObject = {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: { creationTimestamp: access.now() },
    status: {
      userInfo: {
        username: user.name,
        ...(user.uid === '' ? {} : { uid: user.uid }),
        groups: user.groups,
        ...(user.extra === undefined ? {} : { extra: user.extra }),
      },
    },
  }
  return { status: 201, headers: show.headers, body: show.object(review, resource.shape) }
}
