/**
 * Rules for containers, init containers and ephemeral containers: common rules, and rules for each
 * of the three lists.
 */
import { cutText } from '../../../../lib/text/cut-text.ts'
import {
  duplicate,
  duplicateShown,
  forbiddenField,
  invalidValue,
  notSupported,
  notSupportedShown,
  notThere,
  required,
} from '../../../../api/field-fault.ts'
import { checkDnsLabel } from '../../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  numberOf,
  textOf,
} from '../../../../api/object.ts'
import type { Gates } from '../../../../api/gates.ts'
import { addKey, keysOf } from '../../../../lib/scheduling/long-lists.ts'
import { once } from '../../../../lib/scheduling/parts.ts'
import { portName, portNumber, protocol } from '../../../rules/ports.ts'
import { resourceRequirements } from '../../../rules/resources.ts'
import {
  all,
  eachIn,
  fields,
  isEmpty,
  needed,
  type Rule,
  unlessEmpty,
} from '../../../rules/rule.ts'
import { forbidden, named, oneOf } from '../../../rules/scalars.ts'
import type { PodCheck, PodRule } from './check.ts'
import { environment, environmentSources } from './env.ts'
import { running } from './handlers.ts'
import { volumeDevices, volumeMounts } from './mounts.ts'
import { usedClaims } from './resource-claims.ts'
import { containerRestarts, initRestarts } from './restart-rules.ts'
import { containerSecurity } from './security.ts'

/**
 * Refuses whitespace around the image name of a Pod. The image of a template is not validated until
 * a Pod is created from the template.
 */
export const imagePadding: Rule = named((name) =>
  name.trim() === name ? [] : ['must not have leading or trailing whitespace'],
)

const image: PodRule = (value, path, check) => {
  if (check.podName !== undefined) imagePadding(value, path, check)
}

const port: Rule = fields({
  name: unlessEmpty(portName),
  containerPort: needed(portNumber),
  hostPort: unlessEmpty(portNumber),
  protocol,
})

const ports: Rule = (value, path, check) => {
  const names = once('names of container ports', () => new Set<string>())
  eachIn(itemsOf(value), check, (item, at, own) => {
    const name = textOf(item['name'])
    if (name !== '' && !addKey(names, name)) own.faults.push(duplicate(`${path}[${at}].name`, name))
    port(item, `${path}[${at}]`, own)
  })
}

const restartPolicies = ['NotRequired', 'RestartContainer'] as const

/**
 * Rule for resize policies. Except for duplicates, errors have the path of the list instead of the
 * item.
 */
const resizePolicy: PodRule = (value, path, check) => {
  const names = once('resources of resize policies', () => new Set<string>())
  eachIn(itemsOf(value), check, (item, at, { faults, spec }) => {
    const resource = textOf(item['resourceName'])
    const policy = textOf(item['restartPolicy'])
    if (!addKey(names, resource)) {
      faults.push(duplicateShown(`${path}[${at}]`, cutText(resource), '', { json: resource }))
    }
    if (resource === '') faults.push(required(path))
    else if (resource !== 'cpu' && resource !== 'memory') {
      faults.push(notSupportedShown(path, cutText(resource), ['cpu', 'memory'], { json: resource }))
    }
    if (policy === '') faults.push(required(path))
    else if (!restartPolicies.some((known) => known === policy)) {
      faults.push(notSupported(path, policy, restartPolicies))
    }
    if (spec['restartPolicy'] === 'Never' && policy !== 'NotRequired') {
      faults.push(
        invalidValue(path, policy, "must be 'NotRequired' when `restartPolicy` is 'Never'"),
      )
    }
  })
}

const containerResources: PodRule = (value, path, check) => {
  resourceRequirements(value, path, check)
  usedClaims(fieldsOf(value)['claims'], `${path}.claims`, check)
}

/** Rules that apply to all containers, in the order in which errors are reported. */
const anyContainer: PodRule = all<PodCheck>(
  fields({
    name: needed(named(checkDnsLabel)),
    image: needed(image),
    terminationMessagePolicy: oneOf('File', 'FallbackToLogsOnError'),
    ports,
    env: environment,
    envFrom: environmentSources,
  }),
  (value, path, check) => {
    volumeMounts(fieldsOf(value), `${path}.volumeMounts`, check)
    volumeDevices(fieldsOf(value), `${path}.volumeDevices`, check)
  },
  fields({
    imagePullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
    resources: containerResources,
    resizePolicy,
    securityContext: containerSecurity,
  }),
)

const restartGate = 'ContainerRestartRules'

const onlyForInit: Rule = forbidden('may not be set for non-init containers')

/**
 * Validates the containers. Their names must be unique in this list, and must not be used in the
 * other two lists.
 */
export function containers(spec: Fields, path: string, check: PodCheck): void {
  const list = itemsOf(spec['containers'])
  if (list.length === 0) {
    check.faults.push(required(path))
    return
  }
  const names = once('names of containers', () => new Set<string>())
  eachIn(list, check, (one, at, inner) => {
    const own = `${path}[${at}]`
    anyContainer(one, own, inner)
    checkName(one, own, { names, check: inner })
    running(one, own, inner)
    if (check.gates.isOn(restartGate)) containerRestarts(one, own, inner)
    else onlyForInit(one['restartPolicy'], `${own}.restartPolicy`, inner)
  })
  const taken = once('host ports', () => new Set<string>())
  eachIn(list, check, (one, at, inner) => hostPorts(one, `${path}[${at}]`, { taken, check: inner }))
}

/** The first release in which the restart rules of an init container need a restart policy. */
const POLICY_NEEDED_SINCE = 35

export function initContainers(spec: Fields, path: string, check: PodCheck): void {
  const list = itemsOf(spec['initContainers'])
  if (list.length === 0) return
  const names = namesIn(spec, 'containers')
  eachIn(list, check, (one, at, inner) => {
    const own = `${path}[${at}]`
    anyContainer(one, own, inner)
    const hasPolicy = one['restartPolicy'] !== undefined
    const needsPolicy = check.gates.release >= POLICY_NEEDED_SINCE
    if (check.gates.isOn(restartGate) && (hasPolicy || needsPolicy)) initRestarts(one, own, inner)
    else if (hasPolicy) oneOf('Always')(one['restartPolicy'], `${own}.restartPolicy`, inner)
    checkName(one, own, { names, check: inner })
    const taken = once('host ports of an init container', () => new Set<string>())
    hostPorts(one, own, { taken, check: inner })
    if (one['restartPolicy'] === 'Always') running(one, own, inner)
    else notRunning(one, own, inner)
  })
}

const onlyForSidecars: Rule = forbidden(
  'may not be set for init containers without restartPolicy=Always',
)

const notRunning: Rule = fields({
  lifecycle: onlyForSidecars,
  livenessProbe: onlyForSidecars,
  readinessProbe: onlyForSidecars,
  startupProbe: onlyForSidecars,
})

const notForEphemeral =
  'ports resources resizePolicy restartPolicy livenessProbe readinessProbe startupProbe lifecycle'.split(
    ' ',
  )
const notEphemeral = 'cannot be set for an Ephemeral Container'
const forbiddenForEphemeral: Rule = (value, path, { faults, gates }) => {
  const container = fieldsOf(value)
  for (const name of notForEphemeral) {
    const given = container[name]
    // Ephemeral containers must not have the fields in `notForEphemeral`, even with an empty value.
    // The exception is `resources`, which can be empty because it is not a pointer in Go.
    if (given !== undefined && !(name === 'resources' && isUnset(given, gates)))
      faults.push(forbiddenField(`${path}.${name}`, notEphemeral))
  }
}

/** If the gate is off, claims were removed from new containers, even if they are empty. */
function isUnset(resources: Json, gates: Gates): boolean {
  const { limits, requests, claims } = fieldsOf(resources)
  const hasClaims = gates.isOn('DynamicResourceAllocation')
    ? claims !== undefined
    : !isEmpty(claims)
  return limits === undefined && requests === undefined && !hasClaims
}

/** Validates ephemeral containers, which are added to a running Pod for debugging. */
export function ephemeralContainers(spec: Fields, path: string, check: PodCheck): void {
  const list = itemsOf(spec['ephemeralContainers'])
  if (list.length === 0) return
  const targets = [namesIn(spec, 'containers'), namesIn(spec, 'initContainers')]
  const names = once('names of all containers', () => new Set(targets.flatMap((some) => [...some])))
  eachIn(list, check, (one, at, inner) => {
    const own = `${path}[${at}]`
    anyContainer(one, own, inner)
    checkName(one, own, { names, check: inner })
    const target = textOf(one['targetContainerName'])
    if (target !== '' && !targets.some((some) => some.has(target))) {
      inner.faults.push(notThere(`${own}.targetContainerName`, target))
    }
    forbiddenForEphemeral(one, own, inner)
    eachIn(itemsOf(one['volumeMounts']), inner, (mount, index, { faults }) => {
      for (const name of ['subPath', 'subPathExpr']) {
        if (textOf(mount[name]) === '') continue
        faults.push(forbiddenField(`${own}.volumeMounts[${index}].${name}`, notEphemeral))
      }
    })
  })
}

const namesIn = (spec: Fields, list: string): Set<string> =>
  keysOf(itemsOf(spec[list]), ({ name }) => textOf(name))

function checkName(
  { name }: Fields,
  path: string,
  { names, check }: { readonly names: Set<string>; readonly check: PodCheck },
): void {
  const text = textOf(name)
  if (!addKey(names, text)) check.faults.push(duplicate(`${path}.name`, text))
}

/**
 * Validates host ports. Each can be used only once; `taken` contains the ports of previous
 * containers.
 */
function hostPorts(
  container: Fields,
  path: string,
  { taken, check }: { readonly taken: Set<string>; readonly check: PodCheck },
): void {
  eachIn(
    itemsOf(container['ports']),
    check,
    ({ hostPort, hostIP, protocol: spoken }, index, { faults }) => {
      if (numberOf(hostPort) === 0) return
      const key = `${textOf(spoken)}/${textOf(hostIP)}/${numberOf(hostPort)}`
      if (!addKey(taken, key)) faults.push(duplicate(`${path}.ports[${index}].hostPort`, key))
    },
  )
}

/**
 * Validates the ports of a Pod with hostNetwork. There, each container port is also the host port.
 */
export function hostNetworkPorts(spec: Fields, path: string, check: PodCheck): void {
  if (spec['hostNetwork'] !== true) return
  eachIn(itemsOf(spec['containers']), check, ({ ports: list }, at, inner) => {
    eachIn(itemsOf(list), inner, ({ hostPort, containerPort }, index, { faults }) => {
      // In a template, the host port can be absent.
      if (numberOf(hostPort) === 0 || numberOf(hostPort) === numberOf(containerPort)) return
      const why = 'must match `containerPort` when `hostNetwork` is true'
      faults.push(invalidValue(`${path}[${at}].ports[${index}].hostPort`, numberOf(hostPort), why))
    })
  })
}
