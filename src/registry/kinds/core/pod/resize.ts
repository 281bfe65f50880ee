/**
 * Rules for writes through pods/resize, which change the resources of running containers without
 * recreating the Pod.
 */
import {
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidValue,
} from '../../../../api/field-fault.ts'
import type { Gates } from '../../../../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  omit,
  textOf,
} from '../../../../api/object.ts'
import { nanosOf } from '../../../../api/quantity.ts'
import { isSame } from '../../../../objects/schema/equal.ts'
import { mirror } from './annotations.ts'
import { currentWithVersion } from './ephemeral.ts'
import { hasPodLevel } from './pod-level.ts'
import { computedClassOf, qosClassOf } from './qos.ts'
import { validatePodSpec } from './spec.ts'

const lists = ['containers', 'initContainers'] as const

/** The first release in which a resize can decrease memory limits without a restart. */
const LESS_MEMORY_SINCE = 34
/**
 * The first release with another error for a resize of a Pod with pod-level resources, and in which
 * a resize cannot add other resources to a container without resources. The gate that the error
 * names has no effect.
 */
const POD_LEVEL_SINCE = 35

/**
 * Applies the resources and the resizePolicy of each container in the request. The rest of the
 * request is ignored.
 */
export function prepareResize(pod: KubeObject, current: KubeObject): KubeObject {
  const spec = fieldsOf(pod['spec'])
  const was = fieldsOf(current['spec'])
  const changed = lists.flatMap((list): [string, Json][] => {
    const now = itemsOf(spec[list])
    const before = itemsOf(was[list])
    if (now.length !== before.length) return [[list, now]]
    return now.length === 0 ? [] : [[list, before.map((old, at) => resized(old, now[at] ?? {}))]]
  })
  return { ...currentWithVersion(pod, current), spec: { ...was, ...Object.fromEntries(changed) } }
}

function resized(old: Fields, { name, resources, resizePolicy }: Fields): Fields {
  return {
    ...omit(old, 'resources', 'resizePolicy'),
    ...(name === undefined ? {} : { name }),
    ...(resources === undefined ? {} : { resources }),
    ...(resizePolicy === undefined ? {} : { resizePolicy }),
  }
}

export function validateResize(pod: KubeObject, current: KubeObject, gates: Gates): FieldFault[] {
  const spec = fieldsOf(pod['spec'])
  const was = fieldsOf(current['spec'])
  const never = neverResized(current, gates.release)
  if (never !== undefined) return [forbiddenField('[]', `${never} cannot be resized`)]
  const faults = [
    ...validatePodSpec(spec, 'spec', { pod: pod.metadata, gates }),
    ...validateClass(spec, current, gates),
    ...(isRunningWithout(fieldsOf(current['status']))
      ? [forbiddenField('spec', 'Pod running on node without support for resize')]
      : []),
  ]
  if (gates.release >= POD_LEVEL_SINCE && (hasPodLevel(was) || hasPodLevel(spec)))
    return [...faults, forbiddenField('[]', podLevelRefused)]
  const moved = lists.flatMap((list) =>
    validateOrder(list, itemsOf(spec[list]), itemsOf(was[list])),
  )
  return moved.length > 0 ? [...faults, ...moved] : [...faults, ...validateLists(spec, was, gates)]
}

const podLevelRefused =
  'resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled'

function neverResized({ metadata, spec }: KubeObject, release: number): string | undefined {
  const fields = fieldsOf(spec)
  if (release < POD_LEVEL_SINCE && hasPodLevel(fields)) return 'pods with pod-level resources'
  if (metadata.annotations?.[mirror] !== undefined) return 'static pods'
  return fieldsOf(fields['os'])['name'] === 'windows' ? 'windows pods' : undefined
}

function validateOrder(
  list: string,
  now: readonly Fields[],
  before: readonly Fields[],
): FieldFault[] {
  if (now.length !== before.length) {
    return [forbiddenField(`spec.${list}`, `${list} may not be added or removed on resize`)]
  }
  return faultsOfEach(now, ({ name }, at) =>
    name === before[at]?.['name']
      ? []
      : [
          forbiddenField(
            `spec.${list}[${at}].name`,
            `${list} may not be renamed or reordered on resize`,
          ),
        ],
  )
}

/**
 * Whether the node does not support resizing. Such a node does not report the resources of running
 * containers.
 */
const isRunningWithout = ({ containerStatuses }: Fields): boolean =>
  itemsOf(containerStatuses).some(
    ({ state, resources }) => fieldsOf(state)['running'] !== undefined && resources === undefined,
  )

function validateClass(spec: Fields, current: KubeObject, gates: Gates): FieldFault[] {
  if (computedClassOf(spec, gates) === qosClassOf(current, gates)) return []
  const reported = textOf(fieldsOf(current['status'])['qosClass'])
  return [invalidValue('spec', reported, 'Pod QOS Class may not change as a result of resizing')]
}

/**
 * Validates containers and init containers: first the quantities, then the fields that cannot be
 * changed by a resize.
 */
function validateLists(spec: Fields, was: Fields, { release }: Gates): FieldFault[] {
  const changed = lists.flatMap((list) => {
    const before = itemsOf(was[list])
    return itemsOf(spec[list]).flatMap((now, at) => {
      const old = before[at] ?? {}
      return isSame(now, old) && !hasClaims(old)
        ? []
        : [{ list, at, now, old, isFixed: list === 'initContainers' && !isSidecar(old) }]
    })
  })
  return [
    ...['initContainers', 'containers'].flatMap((list) =>
      faultsOfEach(
        changed.filter((one) => one.list === list && !one.isFixed),
        ({ now, old, at }) => {
          const path = `spec.${list}[${at}].resources`
          return [
            ...validateAmounts(now, old, path),
            ...(release < LESS_MEMORY_SINCE ? validateMemory(now, old, path) : []),
          ]
        },
      ),
    ),
    ...faultsOfEach(changed, ({ list, now, old, isFixed }) => {
      if (isFixed) {
        const isKept = isSame(now, old)
        return isKept
          ? []
          : [forbiddenField('spec', 'resources for non-sidecar init containers are immutable')]
      }
      if (!hasClaims(old) && isSame(fixedPart(now, old, release), fixedPart(old, old, release)))
        return []
      const whose = list === 'initContainers' ? ' for sidecar containers' : ''
      return [forbiddenField('spec', `only cpu and memory resources${whose} are mutable`)]
    }),
  ]
}

const isSidecar = ({ restartPolicy }: Fields): boolean => restartPolicy === 'Always'

function validateAmounts(now: Fields, before: Fields, path: string): FieldFault[] {
  const { limits, requests } = fieldsOf(now['resources'])
  const { limits: oldLimits, requests: oldRequests } = fieldsOf(before['resources'])
  const faults: FieldFault[] = []
  if (isGone(requests, oldRequests))
    faults.push(forbiddenField(`${path}.requests`, 'resource requests cannot be removed'))
  if (isGone(limits, oldLimits))
    faults.push(forbiddenField(`${path}.limits`, 'resource limits cannot be removed'))
  return faults
}

/** Validates that the memory limit is not decreased, unless the container is restarted. */
function validateMemory(now: Fields, before: Fields, path: string): FieldFault[] {
  const { limits } = fieldsOf(now['resources'])
  const { limits: oldLimits } = fieldsOf(before['resources'])
  const isRestarted = itemsOf(now['resizePolicy']).some(
    ({ resourceName, restartPolicy }) =>
      resourceName === 'memory' && restartPolicy === 'RestartContainer',
  )
  const memory = fieldsOf(limits)['memory']
  const oldMemory = fieldsOf(oldLimits)['memory']
  if (isRestarted || memory === undefined) return []
  const at = `${path}.limits[memory]`
  if (oldMemory === undefined) {
    return [
      forbiddenField(at, 'memory limits cannot be added unless resizePolicy is RestartContainer'),
    ]
  }
  if (nanosOf(textOf(memory)) >= nanosOf(textOf(oldMemory))) return []
  return [
    forbiddenField(at, 'memory limits cannot be decreased unless resizePolicy is RestartContainer'),
  ]
}

const isGone = (list: Json | undefined, old: Json | undefined): boolean =>
  Object.keys(fieldsOf(old)).some((name) => fieldsOf(list)[name] === undefined)

const hasClaims = ({ resources }: Fields): boolean =>
  itemsOf(fieldsOf(resources)['claims']).length > 0

/**
 * Returns the fields of a container that a resize cannot change: all fields except limits and
 * requests of CPU and memory.
 *
 * As in kube-apiserver, releases before 1.35 ignore all limits if the stored container has no
 * limits, so that a resize can set any of them. The same applies to requests. The new claims are
 * also ignored, so that a container without claims can get claims. If a container already has
 * claims, no container of the Pod can be resized.
 */
function fixedPart(container: Fields, old: Fields, release: number): Fields {
  const resources = fieldsOf(container['resources'])
  const had = fieldsOf(old['resources'])
  const fixed = (list: 'limits' | 'requests'): Fields =>
    release < POD_LEVEL_SINCE && Object.keys(fieldsOf(had[list])).length === 0
      ? {}
      : omit(fieldsOf(resources[list]), 'cpu', 'memory')
  return { ...container, resources: { limits: fixed('limits'), requests: fixed('requests') } }
}
