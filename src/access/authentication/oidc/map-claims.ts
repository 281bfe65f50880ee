/**
 * Maps the claims of a verified token to a user, according to the configured mappings and
 * validation rules. The error messages are the same as in kube-apiserver.
 */
import type { Fields } from '../../../api/object.ts'
import type { User } from '../../../api/user.ts'
import { claimsType, userType } from '../../../objects/cel/access.ts'
import type { AnswerPattern } from '../../../objects/cel/pattern-thread.ts'
import type { Value } from '../../../objects/cel/values.ts'
import type { Expression } from '../../../config/files/expressions.ts'
import type {
  ClaimMapping,
  ClaimRule,
  JwtAuthenticator,
  UserRule,
} from '../../../config/files/jwt-authenticator.ts'
import { claimOf, readBoolean, readText, readTexts, TokenFault } from './claim-values.ts'
import { evaluate, textsOfValue, type Variable } from './evaluate.ts'

const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

/**
 * Returns the user. Rejects with a TokenFault if a claim is missing or has the wrong type, or if a
 * validation rule is violated.
 */
export async function mapClaims(
  claims: Fields,
  config: JwtAuthenticator,
  answer: AnswerPattern,
): Promise<User> {
  const mapper = new ClaimMapper(claims, answer)
  const user = {
    name: await mapper.username(config.username),
    groups: await mapper.groups(config.groups),
    uid: await mapper.uid(config.uid),
    extra: await mapper.extra(config.extra),
  }
  await mapper.checkClaims(config.claimRules)
  await mapper.checkUser(user, config.userRules)
  return user
}

class ClaimMapper {
  readonly #claims: Fields
  readonly #variable: Variable
  readonly #answer: AnswerPattern

  constructor(claims: Fields, answer: AnswerPattern) {
    this.#claims = claims
    this.#variable = { name: 'claims', value: claims, type: claimsType }
    this.#answer = answer
  }

  async username(mapping: ClaimMapping): Promise<string> {
    if (mapping.kind === 'claim') return mapping.prefix + this.#usernameClaim(mapping.claim)
    const what = 'oidc: error evaluating username claim expression'
    const name = await this.#evaluate(mapping.expression, what)
    if (typeof name !== 'string')
      throw new TokenFault(`${what}: username claim expression must return a string`)
    if (name === '') throw new TokenFault('oidc: empty username via CEL expression is not allowed')
    return name
  }

  #usernameClaim(claim: string): string {
    const name = within(`oidc: parse username claims ${JSON.stringify(claim)}`, () =>
      readText(claimOf(this.#claims, claim)),
    )
    const verified = this.#claims['email_verified']
    if (claim !== 'email' || verified === undefined) return name
    if (!within(`oidc: parse 'email_verified' claim`, () => readBoolean(verified))) {
      throw new TokenFault('oidc: email not verified')
    }
    return name
  }

  async groups(mapping: ClaimMapping | null): Promise<readonly string[]> {
    if (mapping === null) return []
    if (mapping.kind === 'expression') {
      const what = 'oidc: error evaluating group claim expression'
      const value = await this.#evaluate(mapping.expression, what)
      return within(what, () => textsOfValue(value))
    }
    const { claim, prefix } = mapping
    const value = Object.hasOwn(this.#claims, claim) ? this.#claims[claim] : undefined
    if (value === undefined) return []
    const groups = within(`oidc: parse groups claim ${JSON.stringify(claim)}`, () =>
      readTexts(value),
    )
    return groups.map((group) => prefix + group)
  }

  async uid(mapping: ClaimMapping | null): Promise<string> {
    if (mapping === null) return ''
    if (mapping.kind === 'claim') {
      const { claim } = mapping
      return within(`oidc: parse uid claim ${JSON.stringify(claim)}`, () =>
        readText(claimOf(this.#claims, claim)),
      )
    }
    const what = 'oidc: error evaluating uid claim expression'
    const uid = await this.#evaluate(mapping.expression, what)
    if (typeof uid !== 'string')
      throw new TokenFault(`${what}: uid claim expression must return a string`)
    return uid
  }

  async extra(
    mappings: JwtAuthenticator['extra'],
  ): Promise<{ readonly [key: string]: readonly string[] }> {
    const { jti } = this.#claims
    const entries: [string, readonly string[]][] = []
    if (typeof jti === 'string' && jti !== '') entries.push([CREDENTIAL_ID, [`JTI=${jti}`]])
    for (const { key, value } of mappings) {
      const values = await this.#evaluate(value)
      const what = `oidc: error evaluating extra claim expression: ${value.text}`
      const texts = within(what, () => textsOfValue(values))
      if (texts.length > 0) entries.push([key, texts])
    }
    return Object.fromEntries(entries)
  }

  async checkClaims(rules: readonly ClaimRule[]): Promise<void> {
    for (const rule of rules)
      if (rule.kind === 'claim') this.#checkClaim(rule.claim, rule.requiredValue)
    for (const rule of rules) {
      if (rule.kind === 'expression')
        await this.#check(rule, this.#variable, 'claim validation expression')
    }
  }

  #checkClaim(claim: string, wanted: string): void {
    if (!Object.hasOwn(this.#claims, claim)) {
      throw new TokenFault(`oidc: required claim ${claim} not present in ID token`)
    }
    const got = within(`oidc: parse claim ${claim}`, () => readText(claimOf(this.#claims, claim)))
    if (got === wanted) return
    throw new TokenFault(
      `oidc: required claim ${claim} value does not match. Got = ${got}, want = ${wanted}`,
    )
  }

  async checkUser(
    { name, uid, groups, extra = {} }: User,
    rules: readonly UserRule[],
  ): Promise<void> {
    const variable = { name: 'user', value: { username: name, uid, groups, extra }, type: userType }
    for (const rule of rules) await this.#check(rule, variable, 'user info validation rule')
  }

  async #check({ expression, message }: UserRule, variable: Variable, kind: string): Promise<void> {
    const what = `oidc: error evaluating ${kind}`
    const value = await this.#evaluate(expression, what, variable)
    if (value === true) return
    if (value !== false)
      throw new TokenFault(`${what}: validation expression must return a boolean`)
    throw new TokenFault(`${what}: validation expression '${expression.text}' failed: ${message}`)
  }

  async #evaluate(
    expression: Expression,
    what?: string,
    variable = this.#variable,
  ): Promise<Value> {
    try {
      return await evaluate(expression, variable, this.#answer)
    } catch (error) {
      if (!(error instanceof TokenFault) || what === undefined) throw error
      throw new TokenFault(`${what}: ${error.message}`)
    }
  }
}

/** Prefixes the message of a TokenFault with the part of the configuration that caused it. */
function within<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof TokenFault)) throw error
    throw new TokenFault(`${what}: ${error.message}`)
  }
}
