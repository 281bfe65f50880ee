/**
 * Refuses updates of a Pod that need features which its node does not declare (gate
 * NodeDeclaredFeatures).
 */
import type { Gates } from '../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
} from '../api/object.ts'
import { getOrLatest, type Objects } from '../api/object-access.ts'
import { compareQuantities, parseQuantity } from '../api/quantity.ts'
import { quote } from '../api/quote.ts'
import { isSame } from '../objects/schema/equal.ts'
import { type Plugin, refusal, targetOf } from './admission.ts'

const nodes = { group: '', version: 'v1', plural: 'nodes' } as const
const targets: ReadonlySet<string> = new Set(['pods', 'pods/resize'])

export function createNodeDeclaredFeatures(
  objects: Pick<Objects, 'get'>,
  gates: Pick<Gates, 'isOn'>,
): Plugin {
  return {
    name: 'NodeDeclaredFeatureValidator',
    resources: new Set(['pods']),
    validate: async (attributes) => {
      const { operation, object, oldObject } = attributes
      if (!gates.isOn('NodeDeclaredFeatures') || operation !== 'UPDATE') return
      if (object === undefined || oldObject === undefined || !targets.has(targetOf(attributes)))
        return
      const name = textOf(fieldsOf(object['spec'])['nodeName'])
      const isSpecChanged = object.metadata.generation !== oldObject.metadata.generation
      const needed = name === '' || !isSpecChanged ? [] : neededFor(object, oldObject)
      if (needed.length === 0) return
      const node = await getOrLatest(objects, nodes, { namespace: '', name })
      if (node === undefined) throw refusal(attributes, `node ${quote(name)} not found`)
      const declared = new Set(listOfTexts(fieldsOf(node['status'])['declaredFeatures']))
      const missing = needed.filter((feature) => !declared.has(feature)).join(', ')
      const why = `pod update requires features ${missing} which are not available on node ${quote(name)}`
      if (missing !== '') throw refusal(attributes, why)
    },
  }
}

const listOfTexts = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.map((one) => textOf(one)) : []

/** Returns the features that an update needs, in alphabetical order. */
function neededFor(object: KubeObject, oldObject: KubeObject): string[] {
  const [spec, before] = [fieldsOf(object['spec']), fieldsOf(oldObject['spec'])]
  const isGuaranteed = fieldsOf(oldObject['status'])['qosClass'] === 'Guaranteed'
  return [
    ...(isGuaranteed && changesProcessors(spec, before) ? ['GuaranteedQoSPodCPUResize'] : []),
    ...(isSame(spec['resources'], before['resources'])
      ? []
      : ['InPlacePodLevelResourcesVerticalScaling']),
  ]
}

/** Whether a container requests another amount of CPU. */
function changesProcessors(spec: Fields, before: Fields): boolean {
  const containers = itemsOf(spec['containers'])
  return itemsOf(before['containers']).some((old, at) => !isSameAmount(old, containers[at] ?? {}))
}

function isSameAmount(one: Fields, other: Fields): boolean {
  const [amount, otherAmount] = [one, other].map(({ resources }) =>
    parseQuantity(textOf(fieldsOf(fieldsOf(resources)['requests'])['cpu']) || '0'),
  )
  if (amount === undefined || otherAmount === undefined) return true
  if ('fault' in amount || 'fault' in otherAmount) return true
  return compareQuantities(amount, otherAmount) === 0
}
