/**
 * Reads the configuration of the PodNodeSelector plugin, which has no apiVersion or kind.
 * kube-apiserver ignores a file that it cannot decode. Keelson refuses such a file, because
 * otherwise pods could run on nodes from which they should be excluded.
 */
import { entriesOf, textOf } from '../../api/object.ts'
import type { FileRead } from './config-file.ts'
import { decodeUnversioned } from './decode-unversioned.ts'
import { podNodeSelectorType } from './schemes.ts'

export type PodNodeSelectors = {
  /**
   * Default node selector. It applies to namespaces without the
   * scheduler.alpha.kubernetes.io/node-selector annotation.
   */
  readonly clusterDefault: string
  /**
   * For each namespace, a node selector with the labels that the pods of the namespace may select.
   */
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
