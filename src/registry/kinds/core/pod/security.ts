/** Rules for the security contexts of Pods and containers. */
import { duplicate, invalidShown, invalidValue, required } from '../../../../api/field-fault.ts'
import { goPointer, goStruct } from '../../../../api/go-value.ts'
import { type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'
import { once } from '../../../../lib/scheduling/parts.ts'
import { all, each, eachIn, fields, ifPresent, type Rule } from '../../../rules/rule.ts'
import { accountId, atMostBytes, oneOf, relativePath } from '../../../rules/scalars.ts'
import type { PodRule } from './check.ts'
import { windowsOptions } from './windows.ts'

const APPARMOR_PROFILE_BYTES_MAX = 4095

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'] as const

const seccompProfile: Rule = ifPresent((value, path, check) => {
  const { type, localhostProfile: profile } = fieldsOf(value)
  const at = `${path}.localhostProfile`
  if (type === 'Localhost') {
    if (profile === undefined)
      check.faults.push(required(at, 'must be set when seccomp type is Localhost'))
    else relativePath(profile, at, check)
  } else if (profile !== undefined) {
    const shown = goStruct('core.SeccompProfile', {
      Type: quote(textOf(type)),
      LocalhostProfile: goPointer('string', true),
    })
    const inner = { type: 'core.SeccompProfile', json: fieldsOf(value) }
    const why = 'can only be set when seccomp type is Localhost'
    check.faults.push(invalidShown(at, shown, why, inner))
  }
  if (textOf(type) === '')
    check.faults.push(required(`${path}.type`, 'type is required when seccompProfile is set'))
  else oneOf(...profileTypes)(type, `${path}.type`, check)
})

const appArmorProfile: Rule = ifPresent((value, path, check) => {
  const { type, localhostProfile } = fieldsOf(value)
  const at = `${path}.localhostProfile`
  const profile = textOf(localhostProfile)
  if (type === undefined)
    check.faults.push(required(`${path}.type`, 'type is required when appArmorProfile is set'))
  else if (type === 'Localhost') {
    if (profile.trim() === '')
      check.faults.push(required(at, 'must be set when AppArmor type is Localhost'))
    else {
      if (profile.trim() !== profile) {
        check.faults.push(invalidValue(at, profile, 'must not be padded with whitespace'))
      }
      atMostBytes(APPARMOR_PROFILE_BYTES_MAX)(profile, at, check)
    }
  } else {
    // As in kube-apiserver, if the type of the profile is unknown, no other errors are reported.
    if (localhostProfile !== undefined && profileTypes.some((known) => known === type)) {
      check.faults.push(
        invalidValue(at, profile, 'can only be set when AppArmor type is Localhost'),
      )
    }
    oneOf(...profileTypes)(type, `${path}.type`, check)
  }
})

/** Rule for procMount. The value Unmasked requires a user namespace. */
const procMount: PodRule = ifPresent((value, path, check) => {
  oneOf('Default', 'Unmasked')(value, path, check)
  if (value !== 'Unmasked' || check.spec['hostUsers'] === false) return
  check.faults.push(invalidValue(path, 'Unmasked', '`hostUsers` must be false to use `Unmasked`'))
})

/** Rule for privilege escalation. A container that forbids it must not be privileged. */
const escalation: Rule = (value, path, { faults }) => {
  const context = fieldsOf(value)
  if (context['allowPrivilegeEscalation'] !== false) return
  const not = 'cannot set `allowPrivilegeEscalation` to false and'
  const inner = { type: 'core.SecurityContext', json: context }
  if (context['privileged'] === true) {
    faults.push(invalidShown(path, goContext(context), `${not} \`privileged\` to true`, inner))
  }
  if (textsOf(fieldsOf(context['capabilities'])['add']).includes('CAP_SYS_ADMIN')) {
    const why = `${not} \`capabilities.Add\` CAP_SYS_ADMIN`
    faults.push(invalidShown(path, goContext(context), why, inner))
  }
}

function goContext(context: Fields): string {
  const pointer = (field: string, type: string): string =>
    goPointer(type, context[field] !== undefined)
  return goStruct('core.SecurityContext', {
    Capabilities: pointer('capabilities', 'core.Capabilities'),
    Privileged: pointer('privileged', 'bool'),
    SELinuxOptions: pointer('seLinuxOptions', 'core.SELinuxOptions'),
    WindowsOptions: pointer('windowsOptions', 'core.WindowsSecurityContextOptions'),
    RunAsUser: pointer('runAsUser', 'int64'),
    RunAsGroup: pointer('runAsGroup', 'int64'),
    RunAsNonRoot: pointer('runAsNonRoot', 'bool'),
    ReadOnlyRootFilesystem: pointer('readOnlyRootFilesystem', 'bool'),
    AllowPrivilegeEscalation: pointer('allowPrivilegeEscalation', 'bool'),
    ProcMount: pointer('procMount', 'core.ProcMountType'),
    SeccompProfile: pointer('seccompProfile', 'core.SeccompProfile'),
    AppArmorProfile: pointer('appArmorProfile', 'core.AppArmorProfile'),
  })
}

export const containerSecurity: PodRule = ifPresent(
  all(
    fields({
      runAsUser: ifPresent(accountId),
      runAsGroup: ifPresent(accountId),
      seccompProfile,
      procMount,
    }),
    escalation,
    fields({ windowsOptions, appArmorProfile }),
  ),
)

const SYSCTL_CHARACTERS_MAX = 253
const sysctlForm = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/
const sysctlRule =
  'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$'

/**
 * Rule for sysctls. If a sysctl belongs to a kernel namespace, the Pod must not share this
 * namespace with the host.
 */
const sysctls: PodRule = (value, path, check) => {
  const names = once('names of sysctls', () => new Set<string>())
  eachIn(itemsOf(value), check, (item, at, { faults, spec }) => {
    const name = textOf(item['name'])
    const own = `${path}[${at}].name`
    if (name === '') {
      faults.push(required(own))
      return
    }
    // Sysctl names that are too long are refused before they are matched, because the regular
    // expression can backtrack for a long time.
    if (name.length > SYSCTL_CHARACTERS_MAX || !sysctlForm.test(name))
      faults.push(invalidValue(own, name, sysctlRule))
    else if (names.has(name)) faults.push(duplicate(own, name))
    names.add(name)
    const dotted =
      name.includes('.') && name.indexOf('.') < (name + '/').indexOf('/')
        ? name
        : name.replaceAll('/', '.')
    const host = dotted.startsWith('net.')
      ? 'hostNetwork'
      : /^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/.test(dotted)
        ? 'hostIPC'
        : undefined
    if (host !== undefined && spec[host] === true) {
      faults.push(invalidValue(own, name, `may not be specified when '${host}' is true`))
    }
  })
}

const sharedProcesses: PodRule = (_value, path, { faults, spec }) => {
  if (spec['shareProcessNamespace'] !== true || spec['hostPID'] !== true) return
  const why = 'ShareProcessNamespace and HostPID cannot both be enabled'
  faults.push(invalidValue(`${path}.shareProcessNamespace`, true, why))
}

const changePolicy: PodRule = (value, path, check) =>
  oneOf(...(check.gates.isOn('SELinuxMount') ? ['MountOption', 'Recursive'] : ['Recursive']))(
    value,
    path,
    check,
  )

export const podSecurity: PodRule = all(
  sharedProcesses,
  fields({
    fsGroup: ifPresent(accountId),
    runAsUser: ifPresent(accountId),
    runAsGroup: ifPresent(accountId),
    supplementalGroups: each(accountId),
    sysctls,
    fsGroupChangePolicy: ifPresent(oneOf('Always', 'OnRootMismatch')),
    seccompProfile,
    windowsOptions,
    appArmorProfile,
    supplementalGroupsPolicy: ifPresent(oneOf('Merge', 'Strict')),
    seLinuxChangePolicy: ifPresent(changePolicy),
  }),
)
