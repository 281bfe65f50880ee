/** Rules for the PodSpec, both in Pods and in Pod templates. */
import {
  type FieldFault,
  forbiddenField,
  invalidValue,
  notThere,
  required,
  tooLong,
} from '../../../../api/field-fault.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../../api/names.ts'
import type { Gates } from '../../../../api/gates.ts'
import { type Fields, fieldsOf, itemsOf, type ObjectMeta, textOf } from '../../../../api/object.ts'
import { labelMap } from '../../../rules/label-selector.ts'
import { resourceRequirements } from '../../../rules/resources.ts'
import {
  collectFaults,
  eachIn,
  fields,
  ifPresent,
  needed,
  type Rule,
  unlessEmpty,
} from '../../../rules/rule.ts'
import { between, INT32_MAX, named, oneOf } from '../../../rules/scalars.ts'
import { mirror } from './annotations.ts'
import type { PodCheck, PodRule } from './check.ts'
import { containers, ephemeralContainers, hostNetworkPorts, initContainers } from './containers.ts'
import { dnsConfig, hostAliases } from './network.ts'
import {
  affinity,
  readinessGates,
  schedulingGates,
  tolerations,
  topologySpread,
} from './scheduling.ts'
import { podLevelResources } from './pod-level.ts'
import { podSecurity } from './security.ts'
import { checkVolumes } from './volumes.ts'
import { keptDevices } from './relaxed.ts'
import { claimsOf, podClaims } from './resource-claims.ts'
import { forSystem, hostProcess } from './windows.ts'

export type PodOptions = {
  /** Metadata of the Pod. Undefined in a template. */
  readonly pod: ObjectMeta | undefined
  readonly gates: Gates
}

export function validatePodSpec(value: Fields, path: string, options: PodOptions): FieldFault[] {
  return collectFaults((faults) => checkPodSpec(value, path, { ...options, faults }))
}

function checkPodSpec(
  value: Fields,
  path: string,
  { pod, gates, faults }: PodOptions & Pick<PodCheck, 'faults'>,
): void {
  const podName = pod && (pod.name ?? '')
  const isStatic = pod?.annotations?.[mirror] !== undefined
  const early: PodCheck = {
    faults,
    gates,
    spec: value,
    podName,
    isStatic,
    claims: claimsOf(value),
    volumes: new Map(),
  }
  const check: PodCheck = { ...early, volumes: checkVolumes(value, `${path}.volumes`, early) }
  podClaims(value, `${path}.resourceClaims`, check)
  containers(value, `${path}.containers`, check)
  initContainers(value, `${path}.initContainers`, check)
  ephemeralContainers(value, `${path}.ephemeralContainers`, check)
  podLevelResources(value['resources'], `${path}.resources`, check)
  policies(value, path, check)
  hostNetworkPorts(value, `${path}.containers`, check)
  podSecurity(value['securityContext'], `${path}.securityContext`, check)
  placement(value, path, check)
  hostProcess(value, path, check)
  ownUsers(value, path, check)
  hostName(value, path, check)
  names(value, path, check)
  system(value, path, check)
  workload(value, path, check)
  if (check.gates.release >= FILES_SINCE) environmentFiles(value, path, check)
}

/** The first release in which environment variables can be read from files (`fileKeyRef`). */
const FILES_SINCE = 34

/** Rule for workloadRef, which only 1.35 has. */
const workload: Rule = fields({
  workloadRef: ifPresent(
    fields({
      name: named(checkDnsSubdomain),
      podGroup: named(checkDnsLabel),
      podGroupReplicaKey: unlessEmpty(named(checkDnsLabel)),
    }),
  ),
})

const subdomainName: Rule = unlessEmpty(named(checkDnsSubdomain))
const labelName: Rule = unlessEmpty(named(checkDnsLabel))

const policies: Rule = fields({
  restartPolicy: oneOf('Always', 'OnFailure', 'Never'),
  dnsPolicy: oneOf('ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'),
  nodeSelector: labelMap,
})

/**
 * Rule for a Pod with scheduling gates. It cannot be bound to a node yet, so nodeName must be
 * empty.
 */
export const gated: Rule = (value, path, { faults }) => {
  const { nodeName, schedulingGates: gates } = fieldsOf(value)
  if (textOf(nodeName) === '' || !Array.isArray(gates) || gates.length === 0) return
  const why = 'cannot be set until all schedulingGates have been cleared'
  faults.push(forbiddenField(`${path}.nodeName`, why))
}

const placement: PodRule = fields({
  affinity,
  dnsConfig,
  readinessGates,
  schedulingGates,
  topologySpreadConstraints: topologySpread,
})

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const

/** The first release that refuses raw block volumes in a Pod with a user namespace. */
const NO_DEVICES_SINCE = 34

/**
 * Rule for a Pod with a user namespace. It must not share other namespaces with the host. The
 * capitalized field names in errors are those of kube-apiserver.
 */
const ownUsers: Rule = (value, path, check) => {
  const { faults, gates } = check
  const spec = fieldsOf(value)
  if (spec['hostUsers'] !== false) return
  const allowsNetwork = gates.isOn('UserNamespacesHostNetworkSupport')
  for (const [field, shown] of [
    ['hostNetwork', 'hostNetwork'],
    ['hostPID', 'HostPID'],
    ['hostIPC', 'HostIPC'],
  ] as const) {
    if (spec[field] === true && !(allowsNetwork && field === 'hostNetwork'))
      faults.push(forbiddenField(`${path}.${shown}`, 'when `pod.Spec.HostUsers` is false'))
  }
  if (gates.release < NO_DEVICES_SINCE || gates.isOn(keptDevices)) return
  for (const list of containerLists)
    eachIn(itemsOf(spec[list]), check, ({ volumeDevices }, at, inner) => {
      if (itemsOf(volumeDevices).length === 0) return
      const field = `${path}.${list}[${at}].volumeDevices`
      inner.faults.push(forbiddenField(field, 'when `hostUsers` is false'))
    })
}

const HOSTNAME_MAX = 64

/** Rule for hostnameOverride, which releases since 1.34 have. */
const hostName: Rule = (value, path, check) => {
  const { hostnameOverride, setHostnameAsFQDN, hostNetwork } = fieldsOf(value)
  if (hostnameOverride === undefined) return
  const own = `${path}.hostnameOverride`
  const forbid = (why: string): unknown => check.faults.push(forbiddenField(own, why))
  if (setHostnameAsFQDN === true) forbid('may not be specified when setHostnameAsFQDN is true')
  if (hostNetwork === true) forbid('may not be specified when hostNetwork is true')
  if (textOf(hostnameOverride).length > HOSTNAME_MAX) check.faults.push(tooLong(own, HOSTNAME_MAX))
  named(checkDnsSubdomain)(hostnameOverride, own, check)
}

/**
 * Rule for environment variables that are read from files. The files must be in an emptyDir volume.
 */
const environmentFiles: PodRule = (value, path, check) => {
  const spec = fieldsOf(value)
  for (const list of containerLists)
    eachIn(itemsOf(spec[list]), check, ({ env }, at, inner) =>
      eachIn(itemsOf(env), inner, ({ valueFrom }, index, { faults, volumes }) => {
        const { fileKeyRef } = fieldsOf(valueFrom)
        if (fileKeyRef === undefined) return
        const name = textOf(fieldsOf(fileKeyRef)['volumeName'])
        const own = `${path}.${list}[${at}].env[${index}].valueFrom.fileKeyRef.volumeName`
        const volume = volumes.get(name)
        if (volume === undefined) faults.push(notThere(own, name))
        else if (volume['emptyDir'] === undefined)
          faults.push(invalidValue(own, name, 'referenced volume must be of type emptyDir'))
      }),
    )
}

/**
 * Rule for overhead. It is validated like the limits of a container. As in kube-apiserver, paths in
 * errors contain `.limits` after `overhead`.
 */
const overhead: Rule = (value, path, check) => resourceRequirements({ limits: value }, path, check)

const names: Rule = fields({
  serviceAccountName: subdomainName,
  nodeName: subdomainName,
  activeDeadlineSeconds: ifPresent(between(1, INT32_MAX)),
  hostname: labelName,
  subdomain: labelName,
  tolerations,
  hostAliases,
  priorityClassName: subdomainName,
  runtimeClassName: ifPresent(named(checkDnsSubdomain)),
  preemptionPolicy: ifPresent(needed(oneOf('PreemptLowerPriority', 'Never'))),
  overhead: ifPresent(overhead),
})

const systems = ['linux', 'windows'] as const
const onSystem: { readonly [name: string]: PodRule } = Object.fromEntries(
  systems.map((name) => [name, forSystem(name)]),
)

const system: PodRule = (value, path, check) => {
  const os = fieldsOf(value)['os']
  if (os === undefined) return
  const name = textOf(fieldsOf(os)['name'])
  if (name === '') {
    check.faults.push(required(`${path}.os.name`, 'cannot be empty'))
    return
  }
  oneOf(...systems)(name, `${path}.os`, check)
  if (Object.hasOwn(onSystem, name)) onSystem[name]?.(value, path, check)
}
