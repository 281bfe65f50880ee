/** Reads the parts of pods, volumes, attachments and ResourceSlices that the node graph needs. */
import { type Fields, fieldsOf, textOf } from '../../../api/object.ts'
import { contentOf } from '../../../storage/cache/informer.ts'
import type { Item } from '../../../storage/cache/item.ts'
import type { SharedLists } from '../../../lib/collections/shared-lists.ts'
import type { Steps } from '../../../lib/scheduling/slices.ts'
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

/** The namespace and name of the object that is read, and a pool that deduplicates strings. */
export type ReadContext = {
  readonly namespace: string
  readonly name: string
  readonly shared: SharedLists
}

/** Number of references that are read before other work can run. */
const STEP_REFERENCES = 256

/** The node of a pod, and the names of the objects that the pod refers to. */
export type PodNames = {
  readonly node: string
  readonly namespace: string
  readonly names: readonly (readonly [Parameters<typeof referenceTo>[0], readonly string[]])[]
}

/** Reads a pod, or returns undefined if it is not bound to a node. */
export function readPod(
  item: Item,
  { namespace, name }: Pick<ReadContext, 'namespace' | 'name'>,
): PodNames | undefined {
  const { spec: specField, status } = fieldsOfItem(item)
  const spec = fieldsOf(specField)
  const node = textOf(spec['nodeName'])
  if (node === '') return undefined
  // Kubelets create mirror pods themselves, so mirror pods must not give access to other objects.
  if (isMirror(item)) return { node, namespace, names: [] }
  const account = textOf(spec['serviceAccountName'])
  return {
    node,
    namespace,
    names: [
      ['serviceaccounts', account === '' ? none : [account]],
      ['secrets', secretNames(spec)],
      ['configmaps', configMapNames(spec)],
      ['persistentvolumeclaims', volumeClaimNames(name, spec)],
      ['resourceclaims', resourceClaimNames(spec, fieldsOf(status))],
    ],
  }
}

/** Converts the names in a pod to the form that the graph stores. */
export function* podContent(
  { node, namespace, names }: PodNames,
  shared: SharedLists,
): Steps<PodContent> {
  const references = new Set<string>()
  let count = 0
  for (const [resource, list] of names) {
    for (const name of list) {
      references.add(shared.text(referenceTo(resource, namespace, name)))
      if (++count % STEP_REFERENCES === 0) yield
    }
  }
  return { node: shared.text(node), references: [...references] }
}

/** Reads a volume, or returns undefined if it is not bound to a claim. */
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

/**
 * Returns the node name of a VolumeAttachment or a ResourceSlice, or undefined if it does not
 * belong to a node.
 */
export function readNodeName(
  item: Item,
  { shared }: Pick<ReadContext, 'shared'>,
): string | undefined {
  const node = textOf(fieldsOf(fieldsOfItem(item)['spec'])['nodeName'])
  return node === '' ? undefined : shared.text(node)
}

/**
 * Returns the fields of an object. Uses the decoded form if it is available, for example after a
 * write through this server.
 */
const fieldsOfItem = (item: Item): Fields => item.decoded ?? contentOf(item)

/**
 * The bytes to search for in the JSON of a pod: the name of the annotation of mirror pods, in
 * quotes. Inside a JSON string, the quotes would be escaped, so these bytes occur only as a key.
 */
const mirrorKey = Buffer.from(`${JSON.stringify(mirror)}:`)

function isMirror(item: Item): boolean {
  if (item.decoded === undefined && !item.wire().includes(mirrorKey)) return false
  return item.peek().metadata.annotations?.[mirror] !== undefined
}
