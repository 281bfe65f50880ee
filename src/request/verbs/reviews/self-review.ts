/** SelfSubjectReview: the user as whom the request is authenticated. */
import type { Fields } from '../../../api/object.ts'
import type { User } from '../../../api/user.ts'
import { apiVersionOf } from '../../../registry/resource.ts'
import { readReview, type Review } from './question.ts'

export const reviewSelf: Review = async (request, access) => {
  const { resource, user } = request
  const { object, validate, respond } = await readReview(request, access)
  await validate(object)
  const metadata = { creationTimestamp: access.now() }
  const status = { userInfo: userInfo(user) }
  return respond({ kind: resource.kind, apiVersion: apiVersionOf(resource), metadata, status })
}

export const userInfo = ({ name, uid, groups, extra }: User): Fields => ({
  username: name,
  ...(uid === '' ? {} : { uid }),
  groups,
  ...(extra === undefined ? {} : { extra }),
})
