/** Facts about the whole Pod for the rules of its parts. */
import type { Fields } from '../../../../api/object.ts'
import type { Check, Rule } from '../../../rules/rule.ts'

export type PodCheck = Check & {
  readonly spec: Fields
  /** Volumes that containers may use, by name. Volumes with invalid names are missing. */
  readonly volumes: ReadonlyMap<string, Fields>
  /** Names of the Pod's resource claims, and how messages print them. */
  readonly claims: { readonly names: ReadonlySet<string>; readonly shown: string }
  /** Undefined in a template, whose Pods get names later. */
  readonly podName: string | undefined
  /** Whether the Pod is the mirror of a static Pod. */
  readonly isStatic: boolean
}

export type PodRule = Rule<PodCheck>
