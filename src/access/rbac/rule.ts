/** A rule of a role, and which requests it covers. */
import type { AccessAttributes } from '../../api/access.ts'

/**
 * All lists are there, in the order in which they were written, so that all rules have one shape.
 */
export type Rule = {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  /** None: all names. */
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** A request as rules see it. Versions and selectors do not matter to them. */
export type Question =
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }
  | {
      readonly kind: 'resource'
      readonly verb: string
      readonly group: string
      /** `pods`, `pods/log`. */
      readonly resource: string
      /**
       * The pattern that covers the subresource of every resource (`*\/log`); empty where there is
       * no subresource.
       */
      readonly ofAny: string
      /** Empty for a create and for a collection: a rule with names covers neither. */
      readonly name: string
    }

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

/** `*` alone and `*\/log` are patterns; in all other places a star is a character like others. */
export function ruleCovers(rule: Rule, question: Question): boolean {
  if (!hasOrAll(rule.verbs, question.verb)) return false
  if (question.kind === 'path')
    return rule.nonResourceURLs.some((url) => urlCovers(url, question.path))
  return (
    hasOrAll(rule.apiGroups, question.group) &&
    coversResource(rule.resources, question.resource, question.ofAny) &&
    (rule.resourceNames.length === 0 || has(rule.resourceNames, question.name))
  )
}

export const hasOrAll = (list: readonly string[], value: string): boolean =>
  has(list, value) || has(list, '*')

/** `ofAny`: as in a question. */
export const coversResource = (list: readonly string[], resource: string, ofAny: string): boolean =>
  has(list, resource) || has(list, '*') || (ofAny !== '' && has(list, ofAny))

/** Stars at the end stand for anything, nothing included. */
export function urlCovers(pattern: string, path: string): boolean {
  if (pattern === path) return true
  if (!pattern.endsWith('*')) return false
  let end = pattern.length
  while (end > 0 && pattern.charCodeAt(end - 1) === STAR) end--
  return path.startsWith(pattern.slice(0, end))
}

const STAR = 0x2a

/** A loop: the lists are short, and this is asked of each rule for each request. */
function has(list: readonly string[], value: string): boolean {
  for (let at = 0; at < list.length; at++) if (list[at] === value) return true
  return false
}
