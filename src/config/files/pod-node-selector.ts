/**
 * The configuration of the plugin PodNodeSelector, which has no apiVersion and no kind. Upstream
 * ignores one that it cannot decode; here it is refused, since pods would be scheduled against the
 * will of its author.
 */
import { entriesOf, textOf } from '../../api/object.ts'
import type { FileRead } from './config-file.ts'
import { decodeUnversioned } from './decode-unversioned.ts'
import { podNodeSelectorType } from './schemes.ts'

export type PodNodeSelectors = {
  /** For namespaces without the annotation. */
  readonly clusterDefault: string
  /** By namespace: the labels that the node selectors of its pods may have. */
  readonly whitelists: ReadonlyMap<string, string>
}

export const noNodeSelectors: PodNodeSelectors = { clusterDefault: '', whitelists: new Map() }

export function readPodNodeSelectors(bytes: Buffer): FileRead<PodNodeSelectors> {
  const decoded = decodeUnversioned(bytes, podNodeSelectorType())
  if ('fault' in decoded) return decoded
  const selectors = new Map(
    entriesOf(decoded.fields['PodNodeSelectorPluginConfig']).map(([key, value]) => [
      key,
      textOf(value),
    ]),
  )
  return {
    value: {
      clusterDefault: selectors.get('clusterDefaultNodeSelector') ?? '',
      whitelists: selectors,
    },
  }
}
