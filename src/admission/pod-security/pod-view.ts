/**
 * The parts of pods that the controls of the Pod Security Standards check, and the text of
 * violations.
 */
import { shownItems } from '../../api/go-value.ts'
import { mapEach, once } from '../../lib/scheduling/parts.ts'
import { sortInParts } from '../../lib/scheduling/sort-in-parts.ts'
import { defaultGates, type Gates } from '../../api/gates.ts'
import { type Fields, fieldsOf, itemsOf, type Json, textOf } from '../../api/object.ts'

export type ContainerView = {
  readonly name: string
  readonly fields: Fields
  readonly security: Fields
}

export type PodView = {
  readonly annotations: Fields
  readonly spec: Fields
  readonly security: Fields
  /**
   * Init containers, containers and ephemeral containers, in the order in which violations list
   * them.
   */
  readonly containers: readonly ContainerView[]
  readonly isWindows: boolean
  /** Controls of later minor versions do not apply. */
  readonly release: number
  /** Whether the pod has a user namespace (hostUsers: false). */
  readonly hasUserNamespace: boolean
  /**
   * Whether some controls of all versions do not apply, because the pod has a user namespace.
   * Always false if the UserNamespacesPodSecurityStandards gate is disabled. Releases since 1.35 do
   * not have this gate: instead, the controls since version 1.35 do not apply.
   */
  readonly isRelaxed: boolean
}

/** Returns the parts of a pod or a pod template that the controls check. */
export function viewPod(
  metadata: Json | undefined,
  podSpec: Json | undefined,
  gates: Gates = defaultGates,
): PodView {
  const spec = fieldsOf(podSpec)
  return {
    annotations: fieldsOf(fieldsOf(metadata)['annotations']),
    spec,
    security: fieldsOf(spec['securityContext']),
    containers: ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
      mapEach('viewed containers', itemsOf(spec[list]), (fields) => ({
        name: textOf(fields['name']),
        fields,
        security: fieldsOf(fields['securityContext']),
      })),
    ),
    isWindows: fieldsOf(spec['os'])['name'] === 'windows',
    release: newestOf(gates),
    hasUserNamespace: spec['hostUsers'] === false,
    isRelaxed: spec['hostUsers'] === false && gates.isOn('UserNamespacesPodSecurityStandards'),
  }
}

/**
 * The first release in which an emulated version limits the controls. In the release before, it
 * turns off the gate of that release's only new control.
 */
const EMULATED_SINCE = 35

function newestOf(gates: Gates): number {
  const { release, emulated = release } = gates
  if (release >= EMULATED_SINCE) return Math.min(release, emulated)
  const hasNewControl = release < 34 || gates.isOn('ProbeHostPodSecurityStandards')
  return hasNewControl ? release : release - 1
}

/** A violation. `reason` names the control, `detail` the fields and containers that violate it. */
export type Violation = { readonly reason: string; readonly detail: string }

export type Control = (pod: PodView) => Violation | undefined

/**
 * Quotes strings and joins them, as in `"a", "b"`. Only the beginning of a long list is formatted.
 */
export const quoted = (words: readonly string[]): string => shownItems(words, (word) => `"${word}"`)

/** Returns the distinct strings in order. */
export const sorted = (words: Iterable<string>): readonly string[] =>
  sortInParts(
    'words of a violation',
    once('distinct words of a violation', () => [...new Set(words)]),
    (one, other) => (one < other ? -1 : one > other ? 1 : 0),
  )

/** Prints `container "a"`, or `containers "a", "b"`. */
export const named = (word: string, names: readonly string[]): string =>
  `${word}${names.length === 1 ? '' : 's'} ${quoted(names)}`

/**
 * Formats the list of objects that set a forbidden value, such as `pod and container "a"`. Returns
 * an empty string if the list is empty.
 */
export function setters(
  isPod: boolean,
  containers: readonly ContainerView[],
  ...others: readonly string[]
): string {
  const who = [
    ...(isPod ? ['pod'] : []),
    ...(containers.length === 0 ? [] : [containersNamed(containers)]),
    ...others,
  ]
  return who.join(' and ')
}

export const containersNamed = (containers: readonly ContainerView[]): string =>
  named(
    'container',
    containers.map(({ name }) => name),
  )
