/** Sets the parts of a new Pod that are determined by the server, whatever the client sent. */
import type { Gates } from '../../../../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
  textsOf,
} from '../../../../api/object.ts'
import type { Writer } from '../../../resource.ts'
import { appArmorPrefix, profileOf } from './annotations.ts'
import { mergesSpreadKeys } from './scheduling.ts'
import { qosClassOf } from './qos.ts'
import { appArmorWarning } from './warnings.ts'

/** Prepares a new Pod. The status that the client sent is dropped, except for the QoS class. */
export function preparePod(pod: KubeObject, { now, warn }: Writer, gates: Gates): KubeObject {
  const spec = fieldsOf(pod['spec'])
  const labels = fieldsOf(pod.metadata.labels)
  return withAppArmor(
    {
      ...pod,
      spec: withSpreadLabels(withOwnLabels(spec, labels), labels, gates),
      status: { phase: 'Pending', qosClass: qosClassOf(pod, gates), ...gatedStatus(spec, now) },
    },
    { warn, hasAnnotations: gates.release < FIELDS_ONLY_SINCE },
  )
}

/**
 * The first release that does not set AppArmor annotations. All nodes that this release supports
 * read the AppArmor fields instead.
 */
const FIELDS_ONLY_SINCE = 34

function gatedStatus(spec: Fields, now: Writer['now']): Fields {
  if (itemsOf(spec['schedulingGates']).length === 0) return {}
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
    lastTransitionTime: now(),
  }
  return { conditions: [condition] }
}

/**
 * Converts matchLabelKeys and mismatchLabelKeys to expressions in the label selector, with the
 * label values of the Pod.
 */
function withOwnLabels(spec: Fields, labels: Fields): Fields {
  const { affinity } = spec
  if (!isFields(affinity)) return spec
  const parts = ['podAffinity', 'podAntiAffinity'].flatMap((part): [string, Json][] => {
    const given = affinity[part]
    if (!isFields(given)) return []
    const { requiredDuringSchedulingIgnoredDuringExecution: required, ...rest } = given
    const { preferredDuringSchedulingIgnoredDuringExecution: preferred } = given
    const changed: { [field: string]: Json | undefined } = { ...rest }
    if (Array.isArray(required)) {
      changed['requiredDuringSchedulingIgnoredDuringExecution'] = itemsOf(required).map((term) =>
        withOwn(term, labels),
      )
    }
    if (Array.isArray(preferred)) {
      changed['preferredDuringSchedulingIgnoredDuringExecution'] = itemsOf(preferred).map(
        (one) => ({
          ...one,
          podAffinityTerm: withOwn(fieldsOf(one['podAffinityTerm']), labels),
        }),
      )
    }
    return [[part, changed]]
  })
  return { ...spec, affinity: { ...affinity, ...Object.fromEntries(parts) } }
}

/** Like `withOwnLabels`, for the matchLabelKeys of topology spread constraints. */
function withSpreadLabels(spec: Fields, labels: Fields, gates: Gates): Fields {
  const { topologySpreadConstraints: constraints } = spec
  if (!Array.isArray(constraints) || !mergesSpreadKeys(gates)) return spec
  return {
    ...spec,
    topologySpreadConstraints: itemsOf(constraints).map((one) => withOwn(one, labels)),
  }
}

function withOwn(term: Fields, labels: Fields): Fields {
  const { labelSelector, matchLabelKeys, mismatchLabelKeys } = term
  if (!isFields(labelSelector)) return term
  const own = (keys: Json | undefined, operator: string): Json[] =>
    textsOf(keys).flatMap((key) =>
      Object.hasOwn(labels, key) ? [{ key, operator, values: [textOf(labels[key])] }] : [],
    )
  const added = [...own(matchLabelKeys, 'In'), ...own(mismatchLabelKeys, 'NotIn')]
  if (added.length === 0) return term
  const matchExpressions = [...itemsOf(labelSelector['matchExpressions']), ...added]
  return { ...term, labelSelector: { ...labelSelector, matchExpressions } }
}

/**
 * Sets the AppArmor profiles of annotations as fields. If `hasAnnotations` is set, also sets the
 * profiles of fields as annotations, because older nodes only support annotations.
 */
function withAppArmor(
  pod: KubeObject,
  { warn, hasAnnotations }: { readonly warn: Writer['warn']; readonly hasAnnotations: boolean },
): KubeObject {
  const spec = fieldsOf(pod['spec'])
  const given = pod.metadata.annotations ?? {}
  if (fieldsOf(spec['os'])['name'] === 'windows') return pod
  const ofPod = fieldsOf(spec['securityContext'])['appArmorProfile']
  const annotations: { [key: string]: string } = {}
  const lists = ['initContainers', 'containers'].flatMap((name): [string, Json][] => {
    const list = spec[name]
    if (!Array.isArray(list)) return []
    const containers = itemsOf(list).map((container) => {
      const key = `${appArmorPrefix}${textOf(container['name'])}`
      const security = fieldsOf(container['securityContext'])
      const own = security['appArmorProfile']
      const said = Object.hasOwn(given, key) ? given[key] : undefined
      if (said === undefined) {
        const text = hasAnnotations ? annotationOf(fieldsOf(own ?? ofPod)) : undefined
        if (text !== undefined) annotations[key] = text
        return container
      }
      warn(appArmorWarning(`metadata.annotations[${key}]`))
      const profile = profileOf(said)
      if (own !== undefined || profile === undefined) return container
      return { ...container, securityContext: { ...security, appArmorProfile: profile } }
    })
    return [[name, containers]]
  })
  const metadata =
    Object.keys(annotations).length === 0
      ? pod.metadata
      : { ...pod.metadata, annotations: { ...given, ...annotations } }
  return { ...pod, metadata, spec: { ...spec, ...Object.fromEntries(lists) } }
}

function annotationOf({ type, localhostProfile }: Fields): string | undefined {
  switch (textOf(type)) {
    case 'Unconfined':
      return 'unconfined'
    case 'RuntimeDefault':
      return 'runtime/default'
    case 'Localhost':
      return localhostProfile === undefined ? undefined : `localhost/${textOf(localhostProfile)}`
    default:
      return undefined
  }
}
