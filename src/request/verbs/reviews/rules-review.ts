/** SelfSubjectRulesReview: all permissions of the user in a namespace. */
import { badRequest } from '../../../api/errors.ts'
import { type Fields, fieldsOf, textOf } from '../../../api/object.ts'
import type { User } from '../../../api/user.ts'
import { apiVersionOf } from '../../../registry/resource.ts'
import { readReview, type Review } from './question.ts'

type Rights = {
  readonly resourceRules: readonly Fields[]
  readonly nonResourceRules: readonly Fields[]
  readonly incomplete: boolean
  readonly evaluationError?: string
}

export type AskAboutRights = (user: User, namespace: string) => Promise<Rights>

export const createRulesReview =
  (askAboutRights: AskAboutRights): Review =>
  async (request, access) => {
    const { resource, user } = request
    const { object, validate, respond } = await readReview(request, access)
    const namespace = textOf(fieldsOf(object['spec'])['namespace'])
    if (namespace === '') throw badRequest('no namespace on request')
    await validate(object)
    const status = await askAboutRights(user, namespace)
    return respond({
      kind: resource.kind,
      apiVersion: apiVersionOf(resource),
      metadata: {},
      spec: {},
      status,
    })
  }
