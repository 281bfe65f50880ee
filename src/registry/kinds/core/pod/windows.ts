/**
 * Rules for fields that only Windows Pods can have, and for fields that Windows Pods must not have.
 */
import { forbiddenField, invalidShown, invalidValue } from '../../../../api/field-fault.ts'
import { checkDnsSubdomain } from '../../../../api/names.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'
import { mapEach, once } from '../../../../lib/scheduling/parts.ts'
import { all, eachIn, fields, ifPresent, type Rule } from '../../../rules/rule.ts'
import { forbidden, named } from '../../../rules/scalars.ts'
import type { PodCheck, PodRule } from './check.ts'

const CREDENTIAL_SPEC_BYTES_MAX = 64 * 1024
const DOMAIN_CHARACTERS_MAX = 256
const USER_CHARACTERS_MAX = 104

const netBiosForm = /^[^\\/:*?|".]([^\\/:*?|"]{0,14})?$/
const dnsForm = /^([a-zA-Z0-9]+)(\.[a-zA-Z0-9]+)*$/
const userForbidden = '"/\\:;|=,+*?<>@[]'

/**
 * Returns the rule for a string to which kube-apiserver has a pointer. Since 1.34, its errors show
 * such a string with the escape sequences of JSON.
 */
const pointed =
  (checkText: (text: string) => string[]): Rule =>
  (value, path, { faults }) => {
    const text = textOf(value)
    for (const why of checkText(text))
      faults.push(invalidShown(path, quote(text), why, { json: text }))
  }

const credentialSpec: Rule = pointed((spec) => {
  if (spec === '') return ['gmsaCredentialSpec cannot be an empty string']
  if (Buffer.byteLength(spec) <= CREDENTIAL_SPEC_BYTES_MAX) return []
  return [`gmsaCredentialSpec size must be under ${CREDENTIAL_SPEC_BYTES_MAX / 1024} KiB`]
})

/** Rule for a user name: `user` or `domain\user`. */
const userName: Rule = pointed((name) => {
  if (name === '') return ['runAsUserName cannot be an empty string']
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name))
    return ['runAsUserName cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const [first = '', second] = parts
  const faults = second === undefined ? [] : domainFaults(first)
  return [...faults, ...userFaults(second ?? first)]
})

function domainFaults(domain: string): string[] {
  const faults =
    domain.length >= DOMAIN_CHARACTERS_MAX
      ? [`runAsUserName's Domain length must be under ${DOMAIN_CHARACTERS_MAX} characters`]
      : []
  if (netBiosForm.test(domain) || (domain.length < DOMAIN_CHARACTERS_MAX && dnsForm.test(domain)))
    return faults
  return [...faults, "runAsUserName's Domain doesn't match the NetBios nor the DNS format"]
}

function userFaults(user: string): string[] {
  if (user === '') return ["runAsUserName's User cannot be empty"]
  if (user.length > USER_CHARACTERS_MAX) {
    return [`runAsUserName's User length must not be longer than ${USER_CHARACTERS_MAX} characters`]
  }
  if (/^[. ]+$/.test(user)) return ["runAsUserName's User cannot contain only periods or spaces"]
  if (!/["/\\:;|=,+*?<>@[\]]/.test(user)) return []
  return [`runAsUserName's User cannot contain the following characters: ${userForbidden}`]
}

export const windowsOptions: Rule = ifPresent(
  fields({
    gmsaCredentialSpecName: ifPresent(named(checkDnsSubdomain)),
    gmsaCredentialSpec: ifPresent(credentialSpec),
    runAsUserName: ifPresent(userName),
  }),
)

const isHostProcess = (context: Fields): boolean | undefined => {
  const value = fieldsOf(context['windowsOptions'])['hostProcess']
  return typeof value === 'boolean' ? value : undefined
}

/**
 * Rule for HostProcess containers. If one container is a HostProcess container, all containers must
 * be, and the Pod must use the host network.
 */
export const hostProcess: PodRule = (value, path, check) => {
  const { faults } = check
  const spec = fieldsOf(value)
  const ofPod = isHostProcess(fieldsOf(spec['securityContext']))
  const flags = once('flags of containers', () => new Set<boolean>())
  eachIn(containersOf(spec), check, ({ container, at }, _, inner) => {
    const own = isHostProcess(fieldsOf(container['securityContext']))
    if (ofPod !== undefined && own !== undefined && own !== ofPod) {
      const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`
      inner.faults.push(
        invalidValue(`${path}.${at}.securityContext.windowsOptions.hostProcess`, own, why),
      )
    }
    flags.add(own ?? ofPod ?? false)
  })
  if (!flags.has(true)) return
  if (flags.has(false)) {
    const why =
      'If pod contains any hostProcess containers then all containers must be HostProcess containers'
    faults.push(invalidValue(path, '', why))
  }
  if (spec['hostNetwork'] === true) return
  const why = 'hostNetwork must be true if pod contains any hostProcess containers'
  faults.push(invalidValue(`${path}.hostNetwork`, false, why))
}

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const

/** Returns all containers, each with its field path. */
export const containersOf = (spec: Fields): readonly LocatedContainer[] =>
  once('containers with paths', () =>
    containerLists.flatMap((list) =>
      mapEach('containers of a list', itemsOf(spec[list]), (item, index) => ({
        container: item,
        at: `${list}[${index}]`,
      })),
    ),
  )

type LocatedContainer = { readonly container: Fields; readonly at: string }

const notOnWindows: Rule = forbidden('cannot be set for a windows pod')
const notOnLinux: Rule = forbidden('windows options cannot be set for a linux pod')

const forbiddenOf = (names: string): Rule =>
  fields(
    Object.fromEntries(
      names
        .trim()
        .split(/\s+/)
        .map((name) => [name, notOnWindows]),
    ),
  )

const notTrue: Rule = (value, path, { faults }) => {
  if (value === true) faults.push(forbiddenField(path, 'cannot be set for a windows pod'))
}

const podOnWindows: Rule = all(
  fields({
    securityContext: forbiddenOf(`
      appArmorProfile seLinuxOptions seccompProfile fsGroup fsGroupChangePolicy sysctls runAsUser runAsGroup
      supplementalGroups supplementalGroupsPolicy seLinuxChangePolicy`),
  }),
  fields({
    hostUsers: notOnWindows,
    hostPID: notTrue,
    hostIPC: notTrue,
    shareProcessNamespace: notOnWindows,
  }),
)

const containerOnWindows: Rule = forbiddenOf(`
  appArmorProfile seLinuxOptions seccompProfile capabilities readOnlyRootFilesystem privileged allowPrivilegeEscalation
  procMount runAsUser runAsGroup`)

/** Returns the rule that refuses the fields that do not apply to an operating system. */
export function forSystem(system: string): PodRule {
  const ofContainer =
    system === 'windows' ? containerOnWindows : fields({ windowsOptions: notOnLinux })
  const ofPod: Rule =
    system === 'windows'
      ? podOnWindows
      : fields({ securityContext: fields({ windowsOptions: notOnLinux }) })
  return (value, path, check: PodCheck) => {
    ofPod(value, path, check)
    eachIn(containersOf(fieldsOf(value)), check, ({ container, at }, _, own) => {
      ofContainer(container['securityContext'], `${path}.${at}.securityContext`, own)
    })
  }
}
