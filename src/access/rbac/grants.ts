/**
 * The rules of a role that has many rules, by resource. Rules that differ only in their resource
 * names are merged, because a role can have a rule for each of thousands of objects.
 */
import type { Steps } from '../../lib/scheduling/slices.ts'
import { PackedTexts } from '../../lib/bytes/packed-texts.ts'
import {
  hasOrAll as listHasOrAll,
  type KeptRule,
  type ResourceQuestion,
  type TextList,
} from './rule.ts'

/** Maximum length of a list that is scanned. Longer lists are looked up in a set. */
const SCAN_MAX = 16
/** Number of list entries that are read before other work can run. */
const STEP_ENTRIES = 256

type TextLookup = TextList | Set<string>

/** The permissions that one rule, or several merged rules, grant for each of their resources. */
type Grant = {
  readonly verbs: TextLookup
  readonly apiGroups: TextLookup
  /**
   * The object names to which the permissions are limited, or undefined if they apply to all
   * objects. Short lists of names are merged into the Set. A long list is added unchanged.
   */
  names: [Set<string>, ...PackedTexts[]] | undefined
}

export class Grants {
  readonly #byResource = new Map<string, Grant[]>()
  #entries = 0

  static *of(rules: readonly KeptRule[]): Steps<Grants> {
    const grants = new Grants()
    const byKey = new Map<string, Grant>()
    const numbers = new Map<TextList, number>()
    const numberOf = (list: TextList): number => {
      const number = numbers.get(list) ?? numbers.size
      numbers.set(list, number)
      return number
    }
    for (const rule of rules) {
      if (grants.#isStepOver()) yield
      // Equal lists of several rules are usually the same object, because roles are read with a
      // pool of lists (lib/collections/shared-lists.ts).
      const key = [rule.verbs, rule.apiGroups, rule.resources].map(numberOf).join()
      const known = byKey.get(key)
      if (known === undefined) byKey.set(key, yield* grants.#add(rule))
      else if (rule.resourceNames.length === 0) known.names = undefined
      else if (known.names !== undefined) yield* grants.#addNames(known.names, rule.resourceNames)
    }
    return grants
  }

  cover({ resource, ofAny, verb, group, name }: ResourceQuestion): boolean {
    const coversRest = (of: string): boolean => {
      for (const { verbs, apiGroups, names } of this.#byResource.get(of) ?? none)
        if (
          hasOrAll(verbs, verb) &&
          hasOrAll(apiGroups, group) &&
          (names === undefined || names.some((list) => list.has(name)))
        )
          return true
      return false
    }
    return coversRest(resource) || coversRest('*') || (ofAny !== '' && coversRest(ofAny))
  }

  *#add({ verbs, apiGroups, resources, resourceNames }: KeptRule): Steps<Grant> {
    const grant: Grant = {
      verbs: yield* this.#lookup(verbs),
      apiGroups: yield* this.#lookup(apiGroups),
      names: undefined,
    }
    if (resourceNames.length > 0) {
      grant.names = [new Set()]
      yield* this.#addNames(grant.names, resourceNames)
    }
    for (const resource of resources) {
      const known = this.#byResource.get(resource)
      if (known === undefined) this.#byResource.set(resource, [grant])
      else if (known.at(-1) !== grant) known.push(grant)
      if (this.#isStepOver()) yield
    }
    return grant
  }

  *#addNames(names: [Set<string>, ...PackedTexts[]], more: TextList): Steps<void> {
    if (more instanceof PackedTexts) names.push(more)
    else yield* this.#addAll(names[0], more)
  }

  *#lookup(list: TextList): Steps<TextLookup> {
    if (list.length <= SCAN_MAX || list instanceof PackedTexts) return list
    const texts = new Set<string>()
    yield* this.#addAll(texts, list)
    return texts
  }

  *#addAll(texts: Set<string>, list: readonly string[]): Steps<void> {
    for (const text of list) {
      texts.add(text)
      if (this.#isStepOver()) yield
    }
  }

  #isStepOver(): boolean {
    return ++this.#entries % STEP_ENTRIES === 0
  }
}

const none: readonly Grant[] = []

const hasOrAll = (list: TextLookup, value: string): boolean =>
  list instanceof Set ? list.has(value) || list.has('*') : listHasOrAll(list, value)
