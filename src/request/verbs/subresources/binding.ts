/** pods/binding: a scheduler assigns a pod to a node, which is possible only once. */
import { describeFaults } from '../../../api/aggregate.ts'
import { badRequest, conflict, notFound, unclassified } from '../../../api/errors.ts'
import { type FieldFault, notSupported, required } from '../../../api/field-fault.ts'
import { fieldsOf, itemsOf, type KubeObject, omit, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { negotiate } from '../../../objects/codec/negotiate.ts'
import { encodeStored } from '../../../objects/codec/object.ts'
import { eachKey, isDivided, once } from '../../../lib/scheduling/parts.ts'
import { schemeOf } from '../../../registry/scheme.ts'
import { typeOf } from '../../../registry/types.ts'
import { plainSchema } from '../../../objects/schema/object-schema.ts'
import { toText } from '../../../storage/keys.ts'
import type { Current } from '../../../storage/store.ts'
import { answerDone } from '../answer.ts'
import { isMarked } from '../../../registry/deletion.ts'
import { readAs } from '../read-body.ts'
import { translated } from '../storage-errors.ts'
import { commit } from '../write/commit.ts'
import { answered } from '../write/written.ts'
import { parseWriteOptions } from '../write-options.ts'
import { withCondition } from './condition.ts'
import { mutate, type SubresourceHandler, withOwners } from './handler.ts'

const bindings = { group: '', plural: 'pods/binding' } as const

export const bind: SubresourceHandler = async (request, { pods, gates }) => {
  const { namespace, context, http } = request
  const { resource, access } = pods
  const form = negotiate(http, { hasTable: false })
  const options = parseWriteOptions(http.query, 'CreateOptions', request.resource.release)
  const { isDryRun, fieldValidation } = options
  const { release } = resource
  const shape = {
    ...plainSchema(typeOf('core/v1', 'Binding', release)),
    scheme: schemeOf('', release),
  }
  const expected = { group: '', version: 'v1', kind: 'Binding', shape }
  const sent = await readAs(request, expected, { fieldValidation, access })
  const given = await withOwners(request, sent, { kind: expected, options, access })
  const admitted = { ...request, name: request.name || (given.metadata.name ?? '') }
  const step = { operation: 'CREATE', isDryRun, access, shape } as const
  const { object: binding, validate: admit } = await mutate(admitted, given, step)
  const name = binding.metadata.name ?? ''
  if (request.name === '' && name === '') throw badRequest('Name parameter required.')
  if (request.name !== '' && request.name !== name) {
    throw badRequest('name in URL does not match name in Binding object')
  }
  const faults = validate(binding)
  if (faults.length > 0) throw unclassified(describeFaults(faults))
  await admit(binding)
  const key = access.keys.key(namespace, name)
  await translated(context, { resource, name, verb: 'create' }, async () => {
    let bound: KubeObject | undefined
    const result = await commit(request, { key, access, isDryRun }, async (current) => {
      if (current === undefined) throw notFound(resource, name)
      checkPreconditions(binding, current, toText(key))
      const clears = gates.isOn(nominationGate)
      const used = gates.isOn(labelsGate) ? binding : withoutLabels(binding)
      const now = access.now()
      const assign = (): KubeObject =>
        withNode(clears ? withoutNomination(current.object) : current.object, used, now)
      const pod = context.isLarge ? await context.inParts(assign) : assign()
      bound = pod
      const encode = (): Buffer => encodeStored(pod, resource.shape)
      return { put: context.isLarge ? await context.inParts(encode) : encode() }
    })
    if (!isDryRun && bound !== undefined)
      await answered(bound, key, result.revision, { request, resource, access })
  })
  return answerDone(form)
}

function validate(binding: KubeObject): FieldFault[] {
  const { kind, name } = fieldsOf(binding['target'])
  const isNode = textOf(kind) === '' || kind === 'Node'
  return [
    ...(isNode ? [] : [notSupported('target.kind', textOf(kind), ['Node', '<empty>'])]),
    ...(textOf(name) === '' ? [required('target.name')] : []),
  ]
}

/**
 * Fails with Conflict if a precondition does not hold. The messages are those of kube-apiserver's
 * storage layer.
 */
function checkPreconditions(
  { metadata }: KubeObject,
  { object, revision }: Current<KubeObject>,
  key: string,
): void {
  const { uid = '', resourceVersion = '' } = metadata
  const refuse = (what: string, asked: string, found: string): Error => {
    const why = `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${found}`
    const storage = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0`
    return conflict(
      { group: '', plural: 'pods' },
      metadata.name ?? '',
      `${storage}, AdditionalErrorMsg: ${why}`,
    )
  }
  if (uid !== '' && uid !== object.metadata.uid) throw refuse('UID', uid, object.metadata.uid ?? '')
  if (resourceVersion !== '' && resourceVersion !== `${revision}`) {
    throw refuse('ResourceVersion', resourceVersion, `${revision}`)
  }
}

/**
 * If this feature gate is enabled, the labels of the binding, which are the topology labels of the
 * node, are added to the pod.
 */
const labelsGate = 'PodTopologyLabelsAdmission'

/** If this feature gate is enabled, a binding clears the nominated node of the pod. */
const nominationGate = 'ClearingNominatedNodeNameAfterBinding'

const withoutNomination = (pod: KubeObject): KubeObject => ({
  ...pod,
  status: omit(fieldsOf(pod['status']), 'nominatedNodeName'),
})

const withoutLabels = (binding: KubeObject): KubeObject => ({
  ...binding,
  metadata: omit(binding.metadata, 'labels'),
})

/** Returns the pod with the node, annotations and labels of the binding. */
function withNode(pod: KubeObject, binding: KubeObject, now: string): KubeObject {
  const spec = fieldsOf(pod['spec'])
  const name = pod.metadata.name ?? ''
  const taken = textOf(spec['nodeName'])
  if (isMarked(pod))
    throw conflict(bindings, name, `pod ${name} is being deleted, cannot be assigned to a host`)
  if (taken !== '')
    throw conflict(bindings, name, `pod ${name} is already assigned to node ${quote(taken)}`)
  if (itemsOf(spec['schedulingGates']).length > 0) {
    throw conflict(bindings, name, `pod ${name} has non-empty .spec.schedulingGates`)
  }
  const { annotations, labels } = binding.metadata
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(annotations === undefined
        ? {}
        : { annotations: mergedMaps(pod.metadata.annotations, annotations) }),
      ...(labels === undefined ? {} : { labels: mergedMaps(pod.metadata.labels, labels) }),
    },
    spec: { ...spec, nodeName: textOf(fieldsOf(binding['target'])['name']) },
    status: withCondition(fieldsOf(pod['status']), { type: 'PodScheduled', status: 'True' }, now),
  }
}

type Texts = { readonly [key: string]: string }

/**
 * Merges two maps. If the caller divides its work into parts, the maps are also merged in parts.
 */
function mergedMaps(one: Texts = {}, other: Texts): Texts {
  if (!isDivided()) return { ...one, ...other }
  // The map has no prototype, because clients choose the keys.
  const merged = once('merged map of a pod', (): Record<string, string> => Object.create(null))
  for (const map of [one, other]) {
    eachKey(
      'map of a pod',
      map,
      () => merged,
      (all, key) => {
        all[key] = map[key] ?? ''
        return true
      },
    )
  }
  return merged
}
