/** TokenReview: authenticates a token. */
import { badRequest } from '../../../api/errors.ts'
import { type FieldFault, tooLong, tooMany } from '../../../api/field-fault.ts'
import {
  fieldsOf,
  type Fields,
  type KubeObject,
  listOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import type { User } from '../../../api/user.ts'
import { readReview, type Review } from './question.ts'
import { userInfo } from './self-review.ts'

/**
 * Maximum number of audiences. Each authenticator compares them with the audiences of the token,
 * and a webhook receives all of them.
 */
const AUDIENCES_MAX = 256
/**
 * Maximum total length of the audiences. A token contains its audiences, and is sent in a header of
 * at most 1 MB.
 */
const AUDIENCES_CHARACTERS_MAX = 256 << 10

export type TokenAnswer =
  | { readonly kind: 'known'; readonly user: User; readonly audiences: readonly string[] }
  | { readonly kind: 'bad'; readonly why: string }
  | { readonly kind: 'unknown' }
  /** The string is not a token, for example because it begins with a space. */
  | { readonly kind: 'none' }

/**
 * Authenticates a token. The token must be valid for one of the given audiences. If no audiences
 * are given, it must be valid for one of the server's audiences.
 */
export type AskAboutToken = (token: string, audiences: readonly string[]) => Promise<TokenAnswer>

export const createTokenReview =
  (askAboutToken: AskAboutToken): Review =>
  async (request, access) => {
    const { object, validate, respond } = await readReview(request, access, {
      validateSize: validateAudiences,
    })
    const { audiences, token } = fieldsOf(object['spec'])
    if (textOf(token) === '')
      throw badRequest('token is required for TokenReview in authentication')
    await validate(object)
    return respond({
      ...object,
      status: statusOf(await askAboutToken(textOf(token), textsOf(audiences))),
    })
  }

/**
 * Returns the errors for a list of audiences that is too large. Used for TokenReview and
 * TokenRequest.
 */
export function validateAudiences({ spec }: KubeObject): FieldFault[] {
  const audiences = listOf(fieldsOf(spec)['audiences'])
  if (audiences.length > AUDIENCES_MAX)
    return [tooMany('spec.audiences', audiences.length, AUDIENCES_MAX)]
  const characters = audiences.reduce<number>((sum, audience) => sum + textOf(audience).length, 0)
  return characters > AUDIENCES_CHARACTERS_MAX
    ? [tooLong('spec.audiences', AUDIENCES_CHARACTERS_MAX)]
    : []
}

function statusOf(answer: TokenAnswer): Fields {
  if (answer.kind === 'known') {
    return { authenticated: true, user: userInfo(answer.user), audiences: answer.audiences }
  }
  if (answer.kind === 'none') return { user: {} }
  return {
    user: {},
    error: answer.kind === 'bad' ? `[invalid bearer token, ${answer.why}]` : 'invalid bearer token',
  }
}
