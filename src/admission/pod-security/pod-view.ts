/** A pod as the controls look at it, and the words in which they complain. */
import { defaultGates, type Gates } from '../../api/gates.ts'
import { type Fields, fieldsOf, itemsOf, type Json, textOf } from '../../api/object.ts'

export type ContainerView = { readonly name: string; readonly fields: Fields; readonly security: Fields }

export type PodView = {
  readonly annotations: Fields
  readonly spec: Fields
  readonly security: Fields
  /** In the order in which they are named: those of the start, the regular ones, those that were added later. */
  readonly containers: readonly ContainerView[]
  readonly isWindows: boolean
  /** Root of the pod is nobody on the node, and the standards ask less of it (gate UserNamespacesPodSecurityStandards). */
  readonly isRelaxed: boolean
}

/** Of a pod, or of the template of one. */
export function viewPod(metadata: Json | undefined, podSpec: Json | undefined, gates: Gates = defaultGates): PodView {
  const spec = fieldsOf(podSpec)
  return {
    annotations: fieldsOf(fieldsOf(metadata)['annotations']),
    spec,
    security: fieldsOf(spec['securityContext']),
    containers: ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
      itemsOf(spec[list]).map((fields) => ({
        name: textOf(fields['name']),
        fields,
        security: fieldsOf(fields['securityContext']),
      })),
    ),
    isWindows: fieldsOf(spec['os'])['name'] === 'windows',
    isRelaxed: spec['hostUsers'] === false && gates.isOn('UserNamespacesPodSecurityStandards'),
  }
}

/** What a control says against a pod: in short, and what exactly. */
export type Violation = { readonly reason: string; readonly detail: string }

export type Control = (pod: PodView) => Violation | undefined

export const quoted = (words: Iterable<string>): string => [...words].map((word) => `"${word}"`).join(', ')

export const sorted = (words: Iterable<string>): readonly string[] => [...new Set(words)].toSorted()

/** `container "a"`, `containers "a", "b"`. */
export const named = (word: string, names: readonly string[]): string =>
  `${word}${names.length === 1 ? '' : 's'} ${quoted(names)}`

/** `pod and container "a"`: who set what is forbidden; empty when nobody did. */
export function setters(isPod: boolean, containers: readonly ContainerView[], ...others: readonly string[]): string {
  const who = [...(isPod ? ['pod'] : []), ...(containers.length === 0 ? [] : [containersNamed(containers)]), ...others]
  return who.join(' and ')
}

export const containersNamed = (containers: readonly ContainerView[]): string =>
  named(
    'container',
    containers.map(({ name }) => name),
  )
