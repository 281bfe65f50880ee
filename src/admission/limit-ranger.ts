/**
 * Applies the LimitRanges of a namespace: sets default requests and limits of containers, and
 * checks the bounds for containers, pods and claims.
 */
import { FAULTS_MAX } from '../api/field-fault.ts'
import type { Gates } from '../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
} from '../api/object.ts'
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'
import { eachItem, mapEach } from '../lib/scheduling/parts.ts'
import { Slices } from '../lib/scheduling/slices.ts'
import { readResourceList } from '../api/resource-list.ts'
import { podResources } from '../registry/pod-resources.ts'
import { type Attributes, type Plugin, refusal, targetOf } from './admission.ts'
import { type Demand, limitFaults } from './limit-faults.ts'

/** Annotation that lists the defaults that were set. */
const annotation = 'kubernetes.io/limit-ranger'
/**
 * Maximum number of defaults that are set in all containers of a pod together. A pod with more
 * defaults would be too large for etcd, so reject it early.
 */
const FILLED_MAX = 200_000

export function createLimitRanger(
  readRanges: (namespace: string) => MaybePromise<readonly KubeObject[]>,
  gates: Gates,
): Plugin {
  // Whether the amount that the pod itself specifies for this resource is checked. For other
  // resources, such as huge pages, the sum over the containers is checked.
  const isOwn = (name: string): boolean =>
    gates.isOn('PodLevelResources') && (name === 'cpu' || name === 'memory')
  return {
    name: 'LimitRanger',
    resources: new Set(['pods', 'persistentvolumeclaims']),
    mutate: async (attributes) => {
      const { object, namespace, context } = attributes
      if (object === undefined || !isLimited(attributes) || attributes.resource.plural !== 'pods')
        return object
      let pod = object
      const refuse = (why: string): Error => refusal(attributes, why)
      for (const range of await readRanges(namespace)) {
        const before = pod
        pod = await context.divide(() => withDefaults(before, limitsOf(range), refuse))
      }
      return pod
    },
    validate: async (attributes) => {
      const { object, namespace, context } = attributes
      if (object === undefined || !isLimited(attributes)) return
      const ranges = await readRanges(namespace)
      if (ranges.length === 0) return
      const demands = await context.divide(() =>
        attributes.resource.plural === 'pods' ? podDemands(object, isOwn) : [claimDemand(object)],
      )
      // As in kube-apiserver, only the violations of the first LimitRange that rejects the object
      // are reported.
      for (const range of ranges) {
        const texts = await faultsOf(limitsOf(range), demands)
        if (texts.length > 0)
          throw refusal(attributes, texts.length === 1 ? `${texts[0]}` : `[${texts.join(', ')}]`)
      }
    },
  }
}

/**
 * Returns the violations. A namespace may have any number of LimitRanges, and a pod may have as
 * many containers as fit into a request body. Therefore the work is divided into slices, between
 * which the event loop runs other work.
 */
async function faultsOf(
  limits: readonly Fields[],
  demands: readonly Demand[],
): Promise<readonly string[]> {
  const slices = new Slices()
  const faults = new Set<string>()
  for (const limit of limits) {
    for (const demand of demands) {
      if (slices.isOver) await slices.turn()
      for (const fault of limitFaults(limit, demand)) faults.add(fault)
      if (faults.size >= FAULTS_MAX) return [...faults]
    }
  }
  return [...faults]
}

/**
 * Whether a write is checked against LimitRanges. It is checked if it can change the resource
 * requests or limits of an object that is not being deleted.
 */
function isLimited(attributes: Attributes): boolean {
  const { operation, oldObject } = attributes
  if (oldObject?.metadata.deletionTimestamp !== undefined) return false
  switch (targetOf(attributes)) {
    case 'pods':
      return operation === 'CREATE'
    case 'pods/resize':
      return operation === 'UPDATE'
    case 'persistentvolumeclaims':
      return operation === 'CREATE' || operation === 'UPDATE'
    default:
      return false
  }
}

const limitsOf = ({ spec }: KubeObject): readonly Fields[] => itemsOf(fieldsOf(spec)['limits'])

/**
 * Returns an object with the fields of all given objects. If several objects have the same field,
 * the last value is used.
 */
function joined(all: readonly Fields[]): Fields {
  const fields: { [name: string]: Json } = {}
  for (const one of all) Object.assign(fields, one)
  return fields
}

function withDefaults(
  pod: KubeObject,
  limits: readonly Fields[],
  refuse: (why: string) => Error,
): KubeObject {
  const ofContainers = limits.filter(({ type }) => type === 'Container')
  const defaults = {
    requests: joined(ofContainers.map(({ defaultRequest }) => fieldsOf(defaultRequest))),
    limits: joined(ofContainers.map((limit) => fieldsOf(limit['default']))),
  }
  const spec = fieldsOf(pod['spec'])
  const amounts = Object.keys(defaults.requests).length + Object.keys(defaults.limits).length
  const count = itemsOf(spec['containers']).length + itemsOf(spec['initContainers']).length
  if (amounts * count > FILLED_MAX)
    throw refuse(`limit ranges set too many defaults: ${amounts} in each of ${count} containers`)
  if (amounts === 0) return pod
  const usual = withDefaultsIn(spec, 'containers', { defaults, word: 'container' })
  const init = withDefaultsIn(spec, 'initContainers', { defaults, word: 'init container' })
  const said = [...usual.said, ...init.said]
  if (said.length === 0) return pod
  const annotations = {
    ...pod.metadata.annotations,
    [annotation]: `LimitRanger plugin set: ${said.join('; ')}`,
  }
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations },
    spec: { ...spec, ...usual.list, ...init.list },
  }
}

type Defaults = { readonly requests: Fields; readonly limits: Fields }
type DefaultOptions = { readonly defaults: Defaults; readonly word: string }

/** Returns a list of containers with the defaults, and a description of the defaults. */
function withDefaultsIn(
  spec: Fields,
  name: string,
  { defaults, word }: DefaultOptions,
): { readonly list: Fields; readonly said: readonly string[] } {
  const { containers, said } = eachItem(
    'containers with defaults',
    itemsOf(spec[name]),
    (): { containers: Fields[]; said: string[] } => ({ containers: [], said: [] }),
    (filled, container) => {
      filled.containers.push(withAmounts(container, defaults, word, filled.said))
      return true
    },
  )
  return { list: spec[name] === undefined ? {} : { [name]: containers }, said }
}

/** Sets missing requests and limits of a container, and appends a description of them to `said`. */
function withAmounts(container: Fields, defaults: Defaults, word: string, said: string[]): Fields {
  const resources = fieldsOf(container['resources'])
  const filled: { [amounts: string]: Fields } = {}
  for (const amounts of ['requests', 'limits'] as const) {
    const given = fieldsOf(resources[amounts])
    // Bounded: the loop runs only twice, for requests and for limits.
    const missing = Object.keys(defaults[amounts]).filter((name) => !Object.hasOwn(given, name))
    if (missing.length === 0) continue
    filled[amounts] = {
      ...given,
      ...Object.fromEntries(missing.map((name) => [name, defaults[amounts][name]])),
    }
    const what = amounts === 'requests' ? 'request' : 'limit'
    said.push(`${missing.toSorted().join(', ')} ${what} for ${word} ${textOf(container['name'])}`)
  }
  return { ...container, resources: { ...resources, ...filled } }
}

function podDemands({ spec }: KubeObject, isOwn: (name: string) => boolean): Demand[] {
  const fields = fieldsOf(spec)
  const containers = ['containers', 'initContainers'].flatMap((list) => itemsOf(fields[list]))
  return [
    ...mapEach('demands of containers', containers, ({ resources }) => ({
      type: 'Container',
      requests: readResourceList(fieldsOf(resources)['requests']),
      limits: readResourceList(fieldsOf(resources)['limits']),
    })),
    {
      type: 'Pod',
      requests: podResources(fields, 'requests', { isOwn }),
      limits: podResources(fields, 'limits', { isOwn }),
    },
  ]
}

const claimDemand = ({ spec }: KubeObject): Demand => ({
  type: 'PersistentVolumeClaim',
  requests: readResourceList(fieldsOf(fieldsOf(spec)['resources'])['requests']),
  limits: new Map(),
})
