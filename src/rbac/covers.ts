/**
 * Which rights some rules lack of those that others give: nobody may grant what he does not have, and a role of the cluster itself gets
 * what it lacks. A rule is broken down into single rights: verb, group, resource and, where the rule has names, name; or verb and path.
 */
import { quote } from '../api/quote.ts'
import type { Steps } from '../lib/slices.ts'
import { hasOrAll, type Rule, urlCovers } from './rule.ts'

/**
 * How often a right is held against a rule at the most, about half a second: lists of some hundred entries multiply to billions. The largest
 * roles of the cluster itself have some hundred rights.
 */
const LOOKS_MAX = 10_000_000
/** Entries of a rule that is held against others whole. */
const WHOLE_MAX = 1_000

export type Missing = {
  /** Each of a single right. */
  readonly rights: readonly Rule[]
  /** False: there were too many to look at all of them. */
  readonly isAll: boolean
}

/** In steps: it may take a while. */
export function* missingRights(held: readonly Rule[], wanted: readonly Rule[]): Steps<Missing> {
  const rights: Rule[] = []
  let looks = 0
  for (const rule of wanted) {
    if (isShort(rule) && held.some((owner) => coversWhole(owner, rule))) continue
    for (const right of rightsOf(rule)) {
      looks += 1 + held.length
      if (looks > LOOKS_MAX) return { rights, isAll: false }
      if (!held.some((owner) => covers(owner, right))) rights.push(ruleOf(right))
      yield
    }
  }
  return { rights, isAll: true }
}

/** Single rights of one group, resource and name become one rule, with their verbs in order; those of paths stay as they are. */
export function joinVerbs(rights: readonly Rule[]): Rule[] {
  const joined = new Map<string, Rule & { readonly verbs: string[] }>()
  const ofPaths: Rule[] = []
  for (const right of rights) {
    const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = right
    const key = JSON.stringify([apiGroups, resources, resourceNames])
    const known = joined.get(key)
    if (nonResourceURLs.length > 0) ofPaths.push(right)
    else if (known === undefined) joined.set(key, { ...right, verbs: [...verbs] })
    else known.verbs.push(...verbs)
  }
  return [...ofPaths, ...joined.values()]
}

/** `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}` */
export function describeRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: Rule): string {
  const parts = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ] as const
  const shown = parts.filter(([, list]) => list.length > 0).map(([name, list]) => `${name}:${quoteList(list)}`)
  return `{${shown.join(', ')}}`
}

/** As Go's %q prints a list. */
export const quoteList = (list: readonly string[]): string => `[${list.map(quote).join(' ')}]`

type Right =
  | { readonly verb: string; readonly group: string; readonly resource: string; readonly name: string | undefined }
  | { readonly verb: string; readonly url: string }

function* rightsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Rule): Generator<Right> {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) for (const name of names) yield { verb, group, resource, name }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) yield { verb, url }
}

function covers(owner: Rule, right: Right): boolean {
  if (!hasOrAll(owner.verbs, right.verb)) return false
  if ('url' in right) {
    return owner.resourceNames.length === 0 && owner.nonResourceURLs.some((url) => urlCovers(url, right.url))
  }
  return (
    hasOrAll(owner.apiGroups, right.group) &&
    givesResource(owner.resources, right.resource) &&
    (owner.resourceNames.length === 0 || (right.name !== undefined && owner.resourceNames.includes(right.name)))
  )
}

/** `*\/log` gives `pods/log`, and no more than itself. */
function givesResource(list: readonly string[], resource: string): boolean {
  if (hasOrAll(list, resource)) return true
  const slash = resource.indexOf('/')
  return slash !== -1 && list.includes(`*${resource.slice(slash)}`)
}

/** Whether one rule gives all that another does, without looking at each right: most are written as they are held. */
function coversWhole(owner: Rule, rule: Rule): boolean {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule
  return (
    verbs.every((verb) => hasOrAll(owner.verbs, verb)) &&
    apiGroups.every((group) => hasOrAll(owner.apiGroups, group)) &&
    resources.every((resource) => givesResource(owner.resources, resource)) &&
    (owner.resourceNames.length === 0 ||
      (resourceNames.length > 0 && resourceNames.every((name) => owner.resourceNames.includes(name)))) &&
    nonResourceURLs.every((path) => owner.nonResourceURLs.some((url) => urlCovers(url, path)))
  )
}

const isShort = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Rule): boolean =>
  verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length <= WHOLE_MAX

function ruleOf(right: Right): Rule {
  const none = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] }
  const verbs = [right.verb]
  if ('url' in right) return { ...none, verbs, nonResourceURLs: [right.url] }
  const { group, resource, name } = right
  return { ...none, verbs, apiGroups: [group], resources: [resource], resourceNames: name === undefined ? [] : [name] }
}
