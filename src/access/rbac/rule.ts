/** A rule of a role, and which requests it covers. */
import type { AccessAttributes } from '../../api/access.ts'

/**
 * A rule whose lists are all present, in the order in which they were written. All rules have the
 * same shape, which keeps access to them fast.
 */
export type Rule = {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  /** Names that the rule is limited to. An empty list means all names. */
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** A request as rules see it. Versions and selectors do not matter. */
export type Question =
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }
  | {
      readonly kind: 'resource'
      readonly verb: string
      readonly group: string
      /** The resource with its subresource, for example `pods` or `pods/log`. */
      readonly resource: string
      /**
       * The pattern that covers this subresource of every resource (`*\/log`). Empty if there is no
       * subresource.
       */
      readonly ofAny: string
      /**
       * The name of the object. It is empty for a create and for a collection, so a rule with names
       * covers neither.
       */
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

/**
 * Whether a rule covers a request. Only `*` alone and `*\/log` are patterns; elsewhere a star is an
 * ordinary character.
 */
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

/** Whether a list covers a resource. `ofAny` is that of a `Question`. */
export const coversResource = (list: readonly string[], resource: string, ofAny: string): boolean =>
  has(list, resource) || has(list, '*') || (ofAny !== '' && has(list, ofAny))

/** Whether a pattern covers a path. Stars at its end stand for any characters, or none. */
export function urlCovers(pattern: string, path: string): boolean {
  if (pattern === path) return true
  if (!pattern.endsWith('*')) return false
  let end = pattern.length
  while (end > 0 && pattern.charCodeAt(end - 1) === STAR) end--
  return path.startsWith(pattern.slice(0, end))
}

const STAR = 0x2a

/**
 * Whether a list contains a value. It is a plain loop, because the lists are short and it runs for
 * each rule of each request.
 */
function has(list: readonly string[], value: string): boolean {
  for (let at = 0; at < list.length; at++) if (list[at] === value) return true
  return false
}
