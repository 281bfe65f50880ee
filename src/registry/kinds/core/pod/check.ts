/** Context of the rules for parts of a Pod: facts about the whole Pod. */
import type { Fields } from '../../../../api/object.ts'
import type { Check, Rule } from '../../../rules/rule.ts'

export type PodCheck = Check & {
  readonly spec: Fields
  /**
   * Volumes that containers can use, keyed by name. Volumes with invalid names are not included.
   */
  readonly volumes: ReadonlyMap<string, Fields>
  /** The resource claims of the Pod: their names, and how error messages print them (`shown`). */
  readonly claims: { readonly names: ReadonlySet<string>; readonly shown: string }
  /**
   * Name of the Pod. Undefined in a Pod template, because Pods that are created from a template get
   * their names later.
   */
  readonly podName: string | undefined
  /** Whether the Pod is the mirror Pod of a static Pod. */
  readonly isStatic: boolean
}

export type PodRule = Rule<PodCheck>
