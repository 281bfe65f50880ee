/**
 * Checks of the Pod Security level `baseline`, which prevents known privilege escalations. The
 * checks of AppArmor, SELinux and seccomp profiles are in profiles.ts.
 */
import { shownItems } from '../../api/go-value.ts'
import { type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../../api/object.ts'
import { eachItem } from '../../lib/scheduling/parts.ts'
import {
  type Control,
  type PodView,
  containersNamed,
  named,
  quoted,
  setters,
  sorted,
  type ContainerView,
} from './pod-view.ts'

const defaultCapabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

export const capabilities: Control = ({ containers }) => {
  const detail = addedCapabilities(containers, defaultCapabilities)
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail }
}

/** Returns a string that lists the containers and the forbidden capabilities that they add. */
export function addedCapabilities(
  containers: readonly ContainerView[],
  allowed: ReadonlySet<string>,
): string | undefined {
  const { bad, names } = eachItem(
    'containers with capabilities',
    containers,
    (): { bad: ContainerView[]; names: Set<string> } => ({ bad: [], names: new Set() }),
    (found, container) => {
      const added = textsOf(fieldsOf(container.security['capabilities'])['add'])
      const forbidden = eachItem(
        'added capabilities',
        added,
        () => ({ count: 0 }),
        (state, name) => {
          if (allowed.has(name)) return true
          state.count++
          found.names.add(name)
          return true
        },
      )
      if (forbidden.count > 0) found.bad.push(container)
      return true
    },
  )
  if (bad.length === 0) return undefined
  const what = quoted(sorted(names))
  return `${containersNamed(bad)} must not include ${what} in securityContext.capabilities.add`
}

export const hostNamespaces: Control = ({ spec }) => {
  const shared = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] === true)
  if (shared.length === 0) return undefined
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
}

export const hostPathVolumes: Control = ({ spec }) => {
  const bad = itemsOf(spec['volumes']).filter(({ hostPath }) => hostPath !== undefined)
  if (bad.length === 0) return undefined
  const names = bad.map(({ name }) => textOf(name))
  return { reason: 'hostPath volumes', detail: named('volume', names) }
}

export const hostPorts: Control = ({ containers }) => {
  const bad = containers.filter((container) => portsOf(container).length > 0)
  if (bad.length === 0) return undefined
  const ports = sorted(bad.flatMap(portsOf))
  const verb = bad.length === 1 ? 'uses' : 'use'
  const word = ports.length === 1 ? 'hostPort' : 'hostPorts'
  return {
    reason: 'hostPort',
    detail: `${containersNamed(bad)} ${verb} ${word} ${shownItems(ports, (port) => port)}`,
  }
}

const portsOf = ({ fields }: ContainerView): readonly string[] =>
  itemsOf(fields['ports']).flatMap(({ hostPort }) =>
    Number(hostPort ?? 0) === 0 ? [] : [`${Number(hostPort)}`],
  )

export const privileged: Control = ({ containers }) => {
  const bad = containers.filter(({ security }) => security['privileged'] === true)
  if (bad.length === 0) return undefined
  return {
    reason: 'privileged',
    detail: `${containersNamed(bad)} must not set securityContext.privileged=true`,
  }
}

/** Fields of a container that contain handlers with a host, in addition to its lifecycle. */
const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const

/** Forbids that probes and lifecycle handlers set a host. */
export const hostsOfHandlers: Control = ({ containers }) => {
  const found = eachItem('hosts of handlers', containers, newHosts, (all, { fields, name }) => {
    const hosts = hostsIn(fields)
    if (hosts.length > 0) all.names.push(name)
    for (const host of hosts) all.hosts.push(host)
    return true
  })
  if (found.names.length === 0) return undefined
  const names = sorted(found.names)
  const reason = 'probe or lifecycle host'
  const verb = names.length === 1 ? 'uses' : 'use'
  return {
    reason,
    detail: `${named('container', names)} ${verb} ${named(reason, sorted(found.hosts))}`,
  }
}

type HandlerHosts = { readonly names: string[]; readonly hosts: string[] }

const newHosts = (): HandlerHosts => ({ names: [], hosts: [] })

/** Returns the hosts of the handlers of a container. Most containers have no handler. */
function hostsIn(container: Fields): readonly string[] {
  const { lifecycle } = container
  if (lifecycle === undefined && probes.every((name) => container[name] === undefined)) return []
  const { postStart, preStop } = fieldsOf(lifecycle)
  return [...probes.map((name) => container[name]), postStart, preStop].flatMap((handler) =>
    ['httpGet', 'tcpSocket'].flatMap((action) => {
      const host = textOf(fieldsOf(fieldsOf(handler)[action])['host'])
      return host === '' ? [] : [host]
    }),
  )
}

export const procMount: Control = ({ containers, isRelaxed }) => {
  if (isRelaxed) return undefined
  const bad = containers.filter((container) => procMountOf(container) !== 'Default')
  if (bad.length === 0) return undefined
  const types = quoted(sorted(bad.map(procMountOf)))
  return {
    reason: 'procMount',
    detail: `${containersNamed(bad)} must not set securityContext.procMount to ${types}`,
  }
}

const procMountOf = ({ security }: ContainerView): string =>
  textOf(security['procMount'] ?? 'Default')

const firstSysctls: readonly string[] = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]

/**
 * Checks of sysctls. The number in a name is the minor version in which the check was introduced.
 * Later versions allow more sysctls.
 */
export const sysctls = sysctlControl(firstSysctls)
const sysctls27 = [...firstSysctls, 'net.ipv4.ip_local_reserved_ports']
export const sysctlsFrom27 = sysctlControl(sysctls27)
const sysctls29 = [
  ...sysctls27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
export const sysctlsFrom29 = sysctlControl(sysctls29)
export const sysctlsFrom32 = sysctlControl([...sysctls29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'])

function sysctlControl(allowed: readonly string[]): Control {
  const names = new Set(allowed)
  return ({ security }) => {
    const bad = itemsOf(security['sysctls']).flatMap(({ name }) =>
      names.has(textOf(name)) ? [] : [textOf(name)],
    )
    return bad.length === 0
      ? undefined
      : {
          reason: 'forbidden sysctls',
          detail: shownItems(bad, (name) => name),
        }
  }
}

export const windowsHostProcess: Control = ({ security, containers }) => {
  const bad = containers.filter((container) => isHostProcess(container.security))
  const who = setters(isHostProcess(security), bad)
  if (who === '') return undefined
  return {
    reason: 'hostProcess',
    detail: `${who} must not set securityContext.windowsOptions.hostProcess=true`,
  }
}

const isHostProcess = (security: PodView['security']): boolean =>
  fieldsOf(security['windowsOptions'])['hostProcess'] === true
