/** What the rules of a Pod's parts know of the whole Pod. */
import type { Fields } from '../../../../api/object.ts'
import type { Check, Rule } from '../../../rules/rule.ts'

export type PodCheck = Check & {
  readonly spec: Fields
  /** The volumes that containers may use, by name. Those with invalid names are missing. */
  readonly volumes: ReadonlyMap<string, Fields>
  /** The names of its resource claims, and how messages print them. */
  readonly claims: { readonly names: ReadonlySet<string>; readonly shown: string }
  /** Undefined in a template: its Pods get names later. */
  readonly podName: string | undefined
  /** Whether it is the mirror of a static Pod. */
  readonly isStatic: boolean
}

export type PodRule = Rule<PodCheck>
