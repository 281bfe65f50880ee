/**
 * The rules of webhooks and policies, which determine to which operations and resources they apply.
 */
import { type Fields, itemsOf, textOf, textsOf } from '../../api/object.ts'
import { keysOf } from '../../lib/scheduling/long-lists.ts'
import { mapEach } from '../../lib/scheduling/parts.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'

export type Rule = {
  readonly operations: readonly string[]
  readonly groups: readonly string[]
  readonly versions: readonly string[]
  readonly resources: readonly RuleResource[]
  readonly scope: string
  /**
   * The resourceNames of the rule. Undefined if every name matches. Only rules of policies have
   * resourceNames.
   */
  readonly names: ReadonlySet<string> | undefined
}

type RuleResource = { readonly plural: string; readonly subresource: string }

/** The fields of a request with which rules are compared. */
export type Target = Pick<Attributes, 'operation' | 'resource' | 'subresource' | 'name'>

/**
 * Reads rules. Long lists are read in parts, between which the event loop runs other work
 * (`inParts`).
 */
export const readRules = (rules: Fields[string]): readonly Rule[] =>
  mapEach('rules of hooks and policies', itemsOf(rules), (rule) => {
    const names = textsOf(rule['resourceNames'])
    return {
      operations: textsOf(rule['operations']),
      groups: textsOf(rule['apiGroups']),
      versions: textsOf(rule['apiVersions']),
      resources: mapEach(
        'resources of an admission rule',
        textsOf(rule['resources']),
        readResource,
      ),
      scope: textOf(rule['scope']),
      names: names.length === 0 ? undefined : keysOf(names, (name) => name),
    }
  })

/**
 * Parses a resource of a rule. `pods/*` includes the pods themselves. `*` does not include
 * subresources. `*` on both sides of the slash means all resources and subresources.
 */
function readResource(text: string): RuleResource {
  const slash = text.indexOf('/')
  return slash === -1
    ? { plural: text, subresource: '' }
    : { plural: text.slice(0, slash), subresource: text.slice(slash + 1) }
}

/** Returns whether a rule matches a request, whatever the name of the object is. */
export function concerns(
  rule: Rule,
  { operation, resource, subresource }: Omit<Target, 'name'>,
): boolean {
  return (
    isInScope(rule.scope, resource) &&
    has(rule.operations, operation) &&
    has(rule.groups, resource.group) &&
    has(rule.versions, resource.version) &&
    rule.resources.some(
      (one) =>
        (one.plural === '*' || one.plural === resource.plural) &&
        (one.subresource === '*' || one.subresource === subresource),
    )
  )
}

export const allowsName = ({ names }: Rule, name: string): boolean =>
  names === undefined || names.has(name)

const has = (texts: readonly string[], text: string): boolean =>
  texts.some((one) => one === '*' || one === text)

function isInScope(scope: string, { isNamespaced }: Resource): boolean {
  if (scope === 'Namespaced') return isNamespaced
  return scope !== 'Cluster' || !isNamespaced
}
