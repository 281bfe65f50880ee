/** TokenReview: authenticates a token. */
import { badRequest } from '../../api/errors.ts'
import { fieldsOf, type Fields, textOf, textsOf } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import { readReview, type Review } from './question.ts'
import { userInfo } from './self-review.ts'

/** Each authenticator compares them with those of the token, and a webhook gets all of them. Who asks is one of a few. */
const AUDIENCES_MAX = 256

export type TokenAnswer =
  | { readonly kind: 'known'; readonly user: User; readonly audiences: readonly string[] }
  | { readonly kind: 'bad'; readonly why: string }
  | { readonly kind: 'unknown' }
  /** It is no token, such as a text that begins with a blank. */
  | { readonly kind: 'none' }

/** The token must be for one of these audiences; if there are none, for one of the server's. */
export type AskAboutToken = (token: string, audiences: readonly string[]) => Promise<TokenAnswer>

export const createTokenReview =
  (askAboutToken: AskAboutToken): Review =>
  async (request, access) => {
    const { object, validate, respond } = await readReview(request, access)
    const { audiences, token } = fieldsOf(object['spec'])
    if (textOf(token) === '') throw badRequest('token is required for TokenReview in authentication')
    const targets = textsOf(audiences)
    if (targets.length > AUDIENCES_MAX) throw badRequest(`spec.audiences must have at most ${AUDIENCES_MAX} items`)
    await validate(object)
    return respond({ ...object, status: statusOf(await askAboutToken(textOf(token), targets)) })
  }

function statusOf(answer: TokenAnswer): Fields {
  if (answer.kind === 'known') {
    return { authenticated: true, user: userInfo(answer.user), audiences: answer.audiences }
  }
  if (answer.kind === 'none') return { user: {} }
  return { user: {}, error: answer.kind === 'bad' ? `[invalid bearer token, ${answer.why}]` : 'invalid bearer token' }
}
