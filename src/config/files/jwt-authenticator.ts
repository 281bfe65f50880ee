/**
 * Reads and validates a JWT authenticator: its issuer, validation rules and claim mappings. Error
 * messages are those of kube-apiserver.
 */
import { duplicate, type FieldFault, invalidValue, required } from '../../api/field-fault.ts'
import { checkDomainPrefixedPath } from '../../api/names.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../../api/object.ts'
import { defaultMinor } from '../../api/releases.ts'
import { claimsEnvironment, userEnvironment } from '../../objects/cel/access.ts'
import { storedVersion } from '../../objects/cel/kubernetes.ts'
import { AuthorityChecks } from './authority-checks.ts'
import {
  anyType,
  type Expression,
  ExpressionCompiler,
  onlyBool,
  type ExpressionField,
} from './expressions.ts'
import { type Issuer, issuerFaults, readIssuer } from './issuer.ts'

export type JwtAuthenticator = {
  readonly issuer: Issuer
  readonly claimRules: readonly ClaimRule[]
  readonly userRules: readonly UserRule[]
  readonly username: ClaimMapping
  /** Mapping of the claim that contains the groups. If null, groups are not mapped. */
  readonly groups: ClaimMapping | null
  readonly uid: ClaimMapping | null
  /** Mappings of extra attributes, in the order of the file. */
  readonly extra: readonly { readonly key: string; readonly value: Expression }[]
}

export type ClaimRule =
  | { readonly kind: 'claim'; readonly claim: string; readonly requiredValue: string }
  | { readonly kind: 'expression'; readonly expression: Expression; readonly message: string }

export type UserRule = { readonly expression: Expression; readonly message: string }

export type ClaimMapping =
  | { readonly kind: 'claim'; readonly claim: string; readonly prefix: string }
  | { readonly kind: 'expression'; readonly expression: Expression }

/**
 * Compiles expressions and validates CA bundles. Both tasks can be done in advance without blocking
 * the event loop.
 */
export type JwtCompiler = {
  readonly expressions: ExpressionCompiler<'claims' | 'user'>
  readonly authorities: AuthorityChecks
}

/** Creates a compiler. Expressions in configuration files can use all libraries of the release. */
export const jwtCompiler = (release = defaultMinor): JwtCompiler => ({
  expressions: new ExpressionCompiler({
    claims: claimsEnvironment(storedVersion(release)),
    user: userEnvironment(storedVersion(release)),
  }),
  authorities: new AuthorityChecks(),
})

/**
 * Compiles the expressions and parses the CA bundle of an authenticator without blocking the event
 * loop.
 */
export async function prepareJwtAuthenticator(
  authenticator: Fields,
  { expressions, authorities }: JwtCompiler,
): Promise<void> {
  const { username, groups, uid, extra } = fieldsOf(authenticator['claimMappings'])
  const mappings = [username, groups, uid].map((mapping) => fieldsOf(mapping)['expression'])
  const values = itemsOf(extra).map(({ valueExpression }) => valueExpression)
  const rules = itemsOf(authenticator['claimValidationRules']).map(({ expression }) => expression)
  const userRules = itemsOf(authenticator['userValidationRules']).map(
    ({ expression }) => expression,
  )
  await expressions.prepare(
    'claims',
    [...mappings, ...values, ...rules].map(textOf).filter(Boolean),
  )
  await expressions.prepare('user', userRules.map(textOf).filter(Boolean))
  const pem = textOf(fieldsOf(authenticator['issuer'])['certificateAuthority'])
  if (pem !== '') await authorities.prepare(pem)
}

export type JwtOptions = {
  readonly path: string
  readonly disallowedIssuers: readonly string[]
  readonly compiler: JwtCompiler
}

/** Reads an authenticator. If there are errors, the caller must not use the result. */
export function readJwtAuthenticator(
  { issuer, claimValidationRules, claimMappings, userValidationRules }: Fields,
  { path, disallowedIssuers, compiler }: JwtOptions,
): { readonly value: JwtAuthenticator; readonly faults: readonly FieldFault[] } {
  const reader = new AuthenticatorReader(compiler.expressions)
  const read = readIssuer(fieldsOf(issuer))
  reader.faults.push(
    ...issuerFaults(read, {
      path: `${path}.issuer`,
      disallowed: disallowedIssuers,
      authorities: compiler.authorities,
    }),
  )
  const claimRules = reader.claimRules(
    itemsOf(claimValidationRules),
    `${path}.claimValidationRules`,
  )
  const mappings = reader.mappings(fieldsOf(claimMappings), `${path}.claimMappings`)
  const userRules = reader.userRules(itemsOf(userValidationRules), `${path}.userValidationRules`)
  return { value: { issuer: read, claimRules, userRules, ...mappings }, faults: reader.faults }
}

type Mappings = Pick<JwtAuthenticator, 'username' | 'groups' | 'uid' | 'extra'>

const nothing: ClaimMapping = { kind: 'claim', claim: '', prefix: '' }
const bothSet = "claim and expression can't both be set"

class AuthenticatorReader {
  readonly faults: FieldFault[] = []
  readonly #compiler: JwtCompiler['expressions']
  /**
   * Whether an expression reads claims.email_verified. This is required if the expression for the
   * user name reads claims.email.
   */
  #isMailVerified = false
  #isMailUsed = false

  constructor(compiler: JwtCompiler['expressions']) {
    this.#compiler = compiler
  }

  claimRules(rules: readonly Fields[], path: string): readonly ClaimRule[] {
    const seen = { claim: new Set<string>(), expression: new Set<string>() }
    return rules.flatMap((rule, at) => this.#claimRule(rule, `${path}[${at}]`, seen) ?? [])
  }

  #claimRule(
    rule: Fields,
    path: string,
    seen: { readonly claim: Set<string>; readonly expression: Set<string> },
  ): ClaimRule | undefined {
    const [claim, text] = [textOf(rule['claim']), textOf(rule['expression'])]
    const [requiredValue, message] = [textOf(rule['requiredValue']), textOf(rule['message'])]
    if (claim !== '' && text !== '') return this.#refuse(invalidValue(path, claim, bothSet))
    if (claim === '' && text === '')
      return this.#refuse(required(path, 'claim or expression is required'))
    if (claim !== '') {
      if (message !== '') {
        this.#refuse(
          invalidValue(`${path}.message`, message, "message can't be set when claim is set"),
        )
      }
      this.#once(seen.claim, claim, `${path}.claim`)
      return { kind: 'claim', claim, requiredValue }
    }
    if (requiredValue !== '') {
      const why = "requiredValue can't be set when expression is set"
      this.#refuse(invalidValue(`${path}.requiredValue`, requiredValue, why))
    }
    if (!this.#once(seen.expression, text, `${path}.expression`)) return undefined
    const expression = this.#compile({ text, path: `${path}.expression` }, 'rule')
    if (expression === undefined) return undefined
    this.#isMailVerified ||= readsVerified(expression)
    return { kind: 'expression', expression, message }
  }

  mappings(mappings: Fields, path: string): Mappings {
    const username = this.#username(fieldsOf(mappings['username']), `${path}.username`)
    const groups = this.#prefixed(fieldsOf(mappings['groups']), `${path}.groups`)
    const uid = this.#uid(fieldsOf(mappings['uid']), `${path}.uid`)
    const extra = this.#extra(itemsOf(mappings['extra']), `${path}.extra`)
    if (this.#isMailUsed && !this.#isMailVerified) {
      const text = textOf(fieldsOf(mappings['username'])['expression'])
      this.#refuse(invalidValue(`${path}.username.expression`, text, unverified))
    }
    return { username, groups, uid, extra }
  }

  #username(mapping: Fields, path: string): ClaimMapping {
    if (textOf(mapping['claim']) === '' && textOf(mapping['expression']) === '') {
      this.#refuse(required(path, 'claim or expression is required'))
      return nothing
    }
    const faultsBefore = this.faults.length
    const read = this.#prefixed(mapping, path)
    if (read?.kind === 'expression' && this.faults.length === faultsBefore) {
      this.#isMailUsed = read.expression.program.readsField('email', 'claims')
      this.#isMailVerified ||= readsVerified(read.expression)
    }
    return read ?? nothing
  }

  #prefixed(mapping: Fields, path: string): ClaimMapping | null {
    const [claim, text, prefix] = [
      textOf(mapping['claim']),
      textOf(mapping['expression']),
      mapping['prefix'],
    ]
    if (claim !== '' && text !== '') return this.#refuse(invalidValue(path, '', bothSet)) ?? null
    if (text !== '') {
      if (typeof prefix === 'string') {
        this.#refuse(
          invalidValue(`${path}.prefix`, prefix, "prefix can't be set when expression is set"),
        )
      }
      return this.#mapped({ text, path: `${path}.expression` })
    }
    if (claim === '') return null
    if (typeof prefix !== 'string') {
      const why =
        'prefix is required when claim is set. It can be set to an empty string to disable prefixing'
      this.#refuse(required(`${path}.prefix`, why))
    }
    return { kind: 'claim', claim, prefix: textOf(prefix) }
  }

  #uid(mapping: Fields, path: string): ClaimMapping | null {
    const [claim, text] = [textOf(mapping['claim']), textOf(mapping['expression'])]
    if (claim !== '' && text !== '') return this.#refuse(invalidValue(path, '', bothSet)) ?? null
    if (text !== '') return this.#mapped({ text, path: `${path}.expression` })
    return claim === '' ? null : { kind: 'claim', claim, prefix: '' }
  }

  #extra(mappings: readonly Fields[], path: string): JwtAuthenticator['extra'] {
    const seen = new Set<string>()
    return mappings.flatMap((mapping, at) => {
      const [key, text] = [textOf(mapping['key']), textOf(mapping['valueExpression'])]
      this.#checkKey(key, `${path}[${at}].key`)
      if (!this.#once(seen, key, `${path}[${at}].key`)) return []
      const place = `${path}[${at}].valueExpression`
      if (text === '') return this.#refuse(required(place, 'valueExpression is required')) ?? []
      const value = this.#compile({ text, path: place }, 'mapping')
      if (value === undefined) return []
      this.#isMailVerified ||= readsVerified(value)
      return [{ key, value }]
    })
  }

  /**
   * Validates the key of an extra attribute. It must begin with a domain, which avoids conflicts
   * between the keys of several authenticators.
   */
  #checkKey(key: string, path: string): void {
    if (key === '') this.#refuse(required(path))
    else
      for (const { value, why } of checkDomainPrefixedPath(key))
        this.#refuse(invalidValue(path, value, why))
    if (key !== key.toLowerCase()) this.#refuse(invalidValue(path, key, 'key must be lowercase'))
    if (/^(?:[^/]*\.)?(?:kubernetes|k8s)\.io\//.test(key)) {
      const why = 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'
      this.#refuse(invalidValue(path, key, why))
    }
  }

  userRules(rules: readonly Fields[], path: string): readonly UserRule[] {
    const seen = new Set<string>()
    return rules.flatMap((rule, at) => {
      const place = `${path}[${at}].expression`
      const text = textOf(rule['expression'])
      if (text === '') return this.#refuse(required(place, 'expression is required')) ?? []
      if (!this.#once(seen, text, place)) return []
      const expression = this.#compile({ text, path: place }, 'user rule')
      return expression === undefined ? [] : [{ expression, message: textOf(rule['message']) }]
    })
  }

  #mapped(place: ExpressionField): ClaimMapping | null {
    const expression = this.#compile(place, 'mapping')
    return expression === undefined ? null : { kind: 'expression', expression }
  }

  #compile(place: ExpressionField, use: 'rule' | 'mapping' | 'user rule'): Expression | undefined {
    const variable = use === 'user rule' ? 'user' : 'claims'
    const compiled = this.#compiler.compile(variable, place, use === 'mapping' ? anyType : onlyBool)
    return 'fault' in compiled ? this.#refuse(compiled.fault) : compiled
  }

  /**
   * Returns whether a value is not in `seen`, and adds the value to `seen`. A value that occurs
   * twice is reported as an error.
   */
  #once(seen: Set<string>, value: string, path: string): boolean {
    const isNew = !seen.has(value)
    if (!isNew) this.#refuse(duplicate(path, value))
    seen.add(value)
    return isNew
  }

  #refuse(fault: FieldFault): undefined {
    this.faults.push(fault)
    return undefined
  }
}

const unverified =
  'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression'

const readsVerified = ({ program }: Expression): boolean =>
  program.readsField('email_verified', 'claims')
