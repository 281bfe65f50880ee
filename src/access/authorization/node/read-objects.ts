/** What the graph holds of pods, volumes, attachments and ResourceSlices. */
import { type Fields, fieldsOf, textOf } from '../../../api/object.ts'
import { contentOf } from '../../../storage/cache/informer.ts'
import type { Item } from '../../../storage/cache/item.ts'
import type { SharedLists } from '../../../lib/collections/shared-lists.ts'
import { mirror } from '../../../registry/kinds/core/pod/annotations.ts'
import {
  configMapNames,
  resourceClaimNames,
  secretNames,
  volumeClaimNames,
} from '../../../registry/kinds/core/pod/references.ts'
import { volumeSecrets } from '../../../registry/kinds/core/volume-secrets.ts'
import { type PodContent, referenceTo, type VolumeContent } from './graph.ts'

const none: readonly string[] = []

/** Where an object is, and texts that many objects share. */
export type ReadContext = {
  readonly namespace: string
  readonly name: string
  readonly shared: SharedLists
}

/** Undefined: it is not bound to a node. */
export function readPod(
  item: Item,
  { namespace, name, shared }: ReadContext,
): PodContent | undefined {
  const { spec: specField, status } = fieldsOfItem(item)
  const spec = fieldsOf(specField)
  const node = textOf(spec['nodeName'])
  if (node === '') return undefined
  // Kubelets create mirror pods: these must not give them access to anything.
  if (isMirror(item)) return { node: shared.text(node), references: none }
  const references = new Set<string>()
  const account = textOf(spec['serviceAccountName'])
  if (account !== '') references.add(referenceTo('serviceaccounts', namespace, account))
  for (const secret of secretNames(spec)) references.add(referenceTo('secrets', namespace, secret))
  for (const map of configMapNames(spec)) references.add(referenceTo('configmaps', namespace, map))
  for (const claim of volumeClaimNames(name, spec)) {
    references.add(referenceTo('persistentvolumeclaims', namespace, claim))
  }
  for (const claim of resourceClaimNames(spec, fieldsOf(status))) {
    references.add(referenceTo('resourceclaims', namespace, claim))
  }
  return {
    node: shared.text(node),
    references: Array.from(references, (reference) => shared.text(reference)),
  }
}

/** Undefined: it is not bound to a claim. */
export function readVolume(
  item: Item,
  { shared }: Pick<ReadContext, 'shared'>,
): VolumeContent | undefined {
  const spec = fieldsOf(fieldsOfItem(item)['spec'])
  const { namespace, name } = fieldsOf(spec['claimRef'])
  if (spec['claimRef'] === undefined) return undefined
  return {
    claim: shared.text(referenceTo('persistentvolumeclaims', textOf(namespace), textOf(name))),
    secrets: volumeSecrets(spec).map((secret) =>
      shared.text(referenceTo('secrets', secret.namespace, secret.name)),
    ),
  }
}

/** The node of a VolumeAttachment or a ResourceSlice; undefined: it is not that of a node. */
export function readNodeName(
  item: Item,
  { shared }: Pick<ReadContext, 'shared'>,
): string | undefined {
  const node = textOf(fieldsOf(fieldsOfItem(item)['spec'])['nodeName'])
  return node === '' ? undefined : shared.text(node)
}

/** What was written through this server is still decoded. */
const fieldsOfItem = (item: Item): Fields => item.decoded ?? contentOf(item)

/**
 * The annotation as it stands in the JSON that clients get. Inside of a text, its quotes would be
 * escaped.
 */
const mirrorKey = Buffer.from(`${JSON.stringify(mirror)}:`)

function isMirror(item: Item): boolean {
  if (item.decoded === undefined && !item.wire().includes(mirrorKey)) return false
  return item.peek().metadata.annotations?.[mirror] !== undefined
}
