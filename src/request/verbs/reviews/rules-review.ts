/** SelfSubjectRulesReview: all permissions of the user in a namespace. */
import { badRequest } from '../../../api/errors.ts'
import { type Fields, fieldsOf, textOf } from '../../../api/object.ts'
import type { User } from '../../../api/user.ts'
import { apiVersionOf } from '../../../registry/resource.ts'
import { holdObject } from '../hold-values.ts'
import { readReview, type Review } from './question.ts'

type Rights = {
  readonly resourceRules: readonly Fields[]
  readonly nonResourceRules: readonly Fields[]
  readonly incomplete: boolean
  readonly evaluationError?: string
}

/**
 * Lists the rights of a user. `reserve` reserves memory for the list, in bytes. It throws if there
 * is not enough memory.
 */
export type AskAboutRights = (
  user: User,
  namespace: string,
  waiting: { readonly signal: AbortSignal; readonly reserve: (bytes: number) => void },
) => Promise<Rights>

export const createRulesReview =
  (askAboutRights: AskAboutRights): Review =>
  async (request, access) => {
    const { resource, user, context, http } = request
    const { object, validate, respond } = await readReview(request, access)
    const namespace = textOf(fieldsOf(object['spec'])['namespace'])
    if (namespace === '') throw badRequest('no namespace on request')
    await validate(object)
    const status = await askAboutRights(user, namespace, {
      signal: context.signal,
      reserve: (bytes) => {
        holdObject(http, bytes)
        context.responseBytes += bytes
      },
    })
    return respond({
      kind: resource.kind,
      apiVersion: apiVersionOf(resource),
      metadata: {},
      spec: {},
      status,
    })
  }
