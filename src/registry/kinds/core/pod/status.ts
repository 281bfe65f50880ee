/** Rules for the status of a Pod, which the kubelet writes. */
import { quote } from '../../../../api/quote.ts'
import {
  checked,
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  internalFault,
  invalidShown,
  invalidValue,
} from '../../../../api/field-fault.ts'
import type { Gates } from '../../../../api/gates.ts'
import { shownItems } from '../../../../api/go-value.ts'
import { parseIp } from '../../../../api/ip.ts'
import { checkDnsSubdomain, checkQualifiedName } from '../../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
} from '../../../../api/object.ts'
import { firstBy } from '../../../../lib/scheduling/long-lists.ts'
import { mapEach } from '../../../../lib/scheduling/parts.ts'
import { followsRules, type StatusList, validateRestarts } from './container-restarts.ts'
import { checkIp, warnOfIp } from '../../../rules/addresses.ts'
import { each, faultsOf, fields, ifPresent, type Rule } from '../../../rules/rule.ts'
import { accountId, named } from '../../../rules/scalars.ts'
import { deviceHealth, validateClaimStatuses } from './resource-claims.ts'
import { canRestartAll, restartAllGate } from './restart-rules.ts'

/**
 * Prepares an update of the status. The QoS class is immutable, and observed generations are kept
 * if the request omits them.
 */
export function preparePodStatus(pod: KubeObject, current: KubeObject): KubeObject {
  const was = fieldsOf(current['status'])
  const status = withGenerations(fieldsOf(pod['status']), was)
  const { qosClass } = was
  const isSet = textOf(status['qosClass']) !== '' || qosClass === undefined
  return { ...pod, status: isSet ? status : { ...status, qosClass } }
}

function withGenerations(status: Fields, was: Fields): Fields {
  const before = itemsOf(was['conditions']).filter(hasGeneration)
  if (!hasGeneration(was) && before.length === 0) return status
  const kept = (now: Fields, then: Fields | undefined): Fields =>
    hasGeneration(now) || then === undefined
      ? now
      : { ...now, observedGeneration: then['observedGeneration'] }
  const known = firstBy(before, ({ type }) => type)
  const conditions = itemsOf(status['conditions']).map((now) => kept(now, known.get(now['type'])))
  return {
    ...kept(status, hasGeneration(was) ? was : undefined),
    ...(conditions.length > 0 ? { conditions } : {}),
  }
}

const hasGeneration = ({ observedGeneration }: Fields): boolean =>
  numberOf(observedGeneration) !== 0

export function validatePodStatus(
  pod: KubeObject,
  current: KubeObject,
  gates: Gates,
): FieldFault[] {
  const status = fieldsOf(pod['status'])
  const was = fieldsOf(current['status'])
  const spec = fieldsOf(pod['spec'])
  return [
    ...faultsOfEach(itemsOf(status['conditions']), validateCondition),
    ...(textOf(status['nominatedNodeName']) === '' ||
    status['nominatedNodeName'] === was['nominatedNodeName']
      ? []
      : faultsOf(
          named(checkDnsSubdomain),
          status['nominatedNodeName'],
          'status.nominatedNodeName',
        )),
    ...validateNomination(pod, current, gates),
    ...validateTransitions(status, was, { spec, gates }),
    ...(textOf(was['qosClass']) === '' || status['qosClass'] === was['qosClass']
      ? []
      : [invalidValue('status.qosClass', textOf(status['qosClass']), 'field is immutable')]),
    ...validateAddresses(itemsOf(status['podIPs']), {
      path: 'status.podIPs',
      type: 'core.PodIP',
      was: itemsOf(was['podIPs']),
    }),
    ...validateHostAddresses(status, itemsOf(was['hostIPs'])),
    ...statusLists.flatMap((list) => faultsOf(users, status[list], `status.${list}`)),
    ...validateClaimStatuses(status, spec),
    ...statusLists.flatMap((list, at) =>
      faultsOf(deviceHealth(itemsOf(spec[specLists[at] ?? ''])), status[list], `status.${list}`),
    ),
    ...faultsOf(notNegative, status['observedGeneration'], 'status.observedGeneration'),
  ]
}

/** Refuses another nominated node for a Pod that is already bound to a node. */
function validateNomination(pod: KubeObject, current: KubeObject, gates: Gates): FieldFault[] {
  const isOn = gates.isOn('ClearingNominatedNodeNameAfterBinding')
  const [now, was] = [pod, current].map(({ status }) =>
    textOf(fieldsOf(status)['nominatedNodeName']),
  )
  const isBound = textOf(fieldsOf(current['spec'])['nodeName']) !== ''
  const why = 'may not be set on pods that are already bound to a node'
  return isOn && isBound && now !== '' && now !== was
    ? [forbiddenField('status.nominatedNodeName', why)]
    : []
}

function validateCondition({ type, observedGeneration }: Fields, at: number): FieldFault[] {
  const path = `status.conditions[${at}]`
  return [
    ...faultsOf(named(checkQualifiedName), type, `${path}.Type`),
    ...faultsOf(ifPresent(notNegative), observedGeneration, `${path}.observedGeneration`),
  ]
}

const notNegative: Rule = (value, path, { faults }) => {
  const generation = numberOf(value)
  if (generation < 0) faults.push(invalidValue(path, generation, 'must be a non-negative integer'))
}

const statusLists: readonly StatusList[] = [
  'containerStatuses',
  'initContainerStatuses',
  'ephemeralContainerStatuses',
]

const specLists = ['containers', 'initContainers', 'ephemeralContainers'] as const

const users: Rule = each(
  fields({
    user: ifPresent(
      fields({
        linux: ifPresent(
          fields({ uid: accountId, gid: accountId, supplementalGroups: each(accountId) }),
        ),
      }),
    ),
  }),
)

/**
 * Validates that a container is not running again if it had terminated and must not be restarted.
 */
function validateTransitions(
  status: Fields,
  was: Fields,
  { spec, gates }: { readonly spec: Fields; readonly gates: Gates },
): FieldFault[] {
  const initContainers = firstBy(itemsOf(spec['initContainers']), ({ name }) => name)
  const policy = textOf(spec['restartPolicy'])
  const canRestart = gates.isOn(restartAllGate) && canRestartAll(spec)
  return statusLists.flatMap((list) => {
    if (followsRules(list, gates) && canRestart) return []
    if (followsRules(list, gates))
      return validateRestarts(itemsOf(status[list]), itemsOf(was[list]), { spec, list })
    const now = itemsOf(status[list])
    const places = firstBy([...now.keys()], (place) => now[place]?.['name'])
    return faultsOfEach(itemsOf(was[list]), (old) => {
      const at = places.get(old['name']) ?? -1
      const one = now[at]
      const ended = fieldsOf(fieldsOf(old['state'])['terminated'])
      if (one === undefined || Object.keys(ended).length === 0) return []
      if (
        fieldsOf(one['state'])['terminated'] !== undefined ||
        mayRestart(list, { ended, policy, init: initContainers.get(old['name']) })
      )
        return []
      return [
        forbiddenField(
          `status.${list}[${at}].state`,
          'may not be transitioned to non-terminated state',
        ),
      ]
    })
  })
}

function mayRestart(
  list: StatusList,
  {
    ended,
    policy,
    init,
  }: { readonly ended: Fields; readonly policy: string; readonly init: Fields | undefined },
): boolean {
  if (list === 'ephemeralContainerStatuses') return false
  if (list === 'initContainerStatuses' && init?.['restartPolicy'] === 'Always') return true
  if (policy === 'Always') return true
  return policy === 'OnFailure' && numberOf(ended['exitCode']) !== 0
}

type Addresses = { readonly path: string; readonly type: string; readonly was: readonly Fields[] }

/**
 * Validates IP addresses. A Pod can have at most one address of each family. Stored addresses are
 * accepted even if they are invalid.
 */
function validateAddresses(list: readonly Fields[], { path, type, was }: Addresses): FieldFault[] {
  const ips = mapEach('addresses of a Pod', list, ({ ip }) => textOf(ip))
  const known = new Set(was.map(({ ip }) => textOf(ip)))
  const faults = faultsOfEach(ips, (ip, at) =>
    known.has(ip) ? [] : checked(`${path}[${at}]`, ip, checkIp),
  )
  if (ips.length < 2) return faults
  const families = ips.map((ip) => parseIp(ip)?.family)
  const bad = families.indexOf(undefined)
  if (bad !== -1) {
    faults.push(
      internalFault(
        path,
        `failed to check for dual stack with error:invalid IP[${bad}]: ${ips[bad]}`,
      ),
    )
  }
  if (bad === -1 && ips.length === 2 && families[0] !== families[1]) return faults
  const shown = `[]${type}{${shownItems(ips, (ip) => `${type}{IP:${quote(ip)}}`)}}`
  return [
    ...faults,
    invalidShown(path, shown, 'may specify no more than one IP for each IP family'),
  ]
}

function validateHostAddresses({ hostIP, hostIPs }: Fields, was: readonly Fields[]): FieldFault[] {
  const list = itemsOf(hostIPs)
  const [first] = list
  if (first === undefined) return []
  const isSame = first['ip'] === (hostIP ?? '')
  return [
    ...(isSame
      ? []
      : [invalidValue('status.hostIPs[0].ip', textOf(first['ip']), 'must be equal to `hostIP`')]),
    ...validateAddresses(list, { path: 'status.hostIPs', type: 'core.HostIP', was }),
  ]
}

/** Warns about address formats that will be refused in the future. */
export function podStatusWarnings(pod: KubeObject): string[] {
  const status = fieldsOf(pod['status'])
  return ['podIPs', 'hostIPs'].flatMap((list) =>
    itemsOf(status[list]).flatMap(({ ip }, at) => warnOfIp(`status.${list}[${at}].ip`, textOf(ip))),
  )
}

/**
 * Makes podIP and podIPs consistent. podIP mirrors the first item of podIPs, and takes precedence
 * if they differ.
 */
export function withPodIps(status: Fields): Fields {
  const { podIP, podIPs } = status
  const first = itemsOf(podIPs)[0]?.['ip']
  if (textOf(podIP) === '') return first === undefined ? status : { ...status, podIP: first }
  return podIP === first ? status : { ...status, podIPs: [{ ip: podIP }] }
}
