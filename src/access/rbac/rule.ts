/** The rules of roles, and which requests they cover. */
import type { AccessAttributes } from '../../api/access.ts'
import { PackedTexts } from '../../lib/bytes/packed-texts.ts'

/**
 * A rule in which all lists are present. All rules have the same properties in the same order, so
 * that V8 can access them quickly.
 */
export type Rule = {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  /** Names to which the rule is limited. An empty list means all names. */
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** A list of strings in a rule. Long lists are stored in packed form, which needs less memory. */
export type TextList = readonly string[] | PackedTexts

/** A rule of a role, as stored in the index of roles. */
export type KeptRule = {
  readonly [list in Exclude<keyof Rule, 'nonResourceURLs'>]: TextList
} & Pick<Rule, 'nonResourceURLs'>

/**
 * The attributes of a request that rules evaluate. Rules do not evaluate versions and selectors.
 */
export type Question =
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }
  | {
      readonly kind: 'resource'
      readonly verb: string
      readonly group: string
      /** The resource with its subresource, for example `pods` or `pods/log`. */
      readonly resource: string
      /**
       * The pattern for this subresource of any resource, for example `*\/log`. Empty if there is
       * no subresource.
       */
      readonly ofAny: string
      /**
       * The name of the object. Empty in create requests and in requests for a collection, so a
       * rule with names does not cover them.
       */
      readonly name: string
    }

export type ResourceQuestion = Extract<Question, { kind: 'resource' }>

export function questionOf(attributes: AccessAttributes): Question {
  if (attributes.kind === 'path') return attributes
  const { verb, group, plural, subresource, name } = attributes
  if (subresource === '')
    return { kind: 'resource', verb, group, resource: plural, ofAny: '', name }
  return {
    kind: 'resource',
    verb,
    group,
    resource: `${plural}/${subresource}`,
    ofAny: `*/${subresource}`,
    name,
  }
}

/**
 * Whether a rule covers a request. A star is a pattern only if it stands alone or in the form
 * `*\/log`.
 */
export function ruleCovers(rule: KeptRule, question: Question): boolean {
  if (!hasOrAll(rule.verbs, question.verb)) return false
  if (question.kind === 'path')
    return rule.nonResourceURLs.some((url) => urlCovers(url, question.path))
  return (
    hasOrAll(rule.apiGroups, question.group) &&
    coversResource(rule.resources, question.resource, question.ofAny) &&
    (rule.resourceNames.length === 0 || hasText(rule.resourceNames, question.name))
  )
}

export const hasOrAll = (list: TextList, value: string): boolean =>
  hasText(list, value) || hasText(list, '*')

/**
 * Whether a list of resources in a rule covers a resource. `ofAny` is the pattern for this
 * subresource of any resource, such as `*\/log`, or empty if the request is not for a subresource.
 */
export const coversResource = (list: TextList, resource: string, ofAny: string): boolean =>
  hasText(list, resource) || hasText(list, '*') || (ofAny !== '' && hasText(list, ofAny))

/**
 * Whether a pattern covers a path. Stars at the end of a pattern match any characters, including
 * none.
 */
export function urlCovers(pattern: string, path: string): boolean {
  if (pattern === path) return true
  const prefix = urlPrefixOf(pattern)
  return prefix !== undefined && path.startsWith(prefix)
}

/** Returns a pattern without the stars at its end, or undefined if it does not end with a star. */
export function urlPrefixOf(pattern: string): string | undefined {
  if (!pattern.endsWith('*')) return undefined
  let end = pattern.length
  while (end > 0 && pattern.charCodeAt(end - 1) === STAR) end--
  return pattern.slice(0, end)
}

const STAR = 0x2a

/**
 * Whether a list contains a value. Uses a plain loop, because the lists are short and each request
 * checks many rules.
 */
export function hasText(list: TextList, value: string): boolean {
  if (list instanceof PackedTexts) return list.has(value)
  for (let at = 0; at < list.length; at++) if (list[at] === value) return true
  return false
}
