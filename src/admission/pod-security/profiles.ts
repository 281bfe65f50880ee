/**
 * Controls of the baseline level for profiles that the kernel enforces: AppArmor, SELinux and
 * seccomp.
 */
import { shownItems } from '../../api/go-value.ts'
import { fieldsOf, textOf } from '../../api/object.ts'
import { type Control, named, type PodView, quoted, setters, sorted } from './pod-view.ts'

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'

export const appArmorProfile: Control = ({ annotations, security, containers }) => {
  const podType = appArmorTypeOf(security)
  const bad = containers.filter((container) => isForbidden(appArmorTypeOf(container.security)))
  const badAnnotations = Object.entries(annotations).flatMap(([key, value]) => {
    const profile = textOf(value)
    const isAllowed =
      profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/')
    return key.startsWith(appArmorPrefix) && !isAllowed ? [`${key}="${profile}"`] : []
  })
  const others =
    badAnnotations.length === 0 ? [] : [badAnnotations.length === 1 ? 'annotation' : 'annotations']
  const who = setters(isForbidden(podType), bad, ...others)
  if (who === '') return undefined
  const types = [
    ...(isForbidden(podType) ? [podType] : []),
    ...bad.map((container) => appArmorTypeOf(container.security)),
  ]
  const values = sorted([...types, ...badAnnotations])
  return {
    reason: values.length === 1 ? 'forbidden AppArmor profile' : 'forbidden AppArmor profiles',
    detail: `${who} must not set AppArmor profile type to ${quoted(values)}`,
  }
}

const appArmorTypeOf = (security: PodView['security']): string =>
  textOf(fieldsOf(security['appArmorProfile'])['type'])

/**
 * Returns whether the baseline level forbids this type of an AppArmor or seccomp profile. An empty
 * type means that the pod does not set a profile.
 */
const isForbidden = (type: string): boolean => type !== '' && !isProfile(type)

/**
 * Returns whether a seccomp or AppArmor type applies a profile. The type Unconfined, for example,
 * does not.
 */
export const isProfile = (type: string): boolean =>
  type === 'RuntimeDefault' || type === 'Localhost'

const seLinuxTypes: readonly string[] = ['', 'container_t', 'container_init_t', 'container_kvm_t']

export const seLinuxOptions = selinuxControl(new Set(seLinuxTypes))
export const seLinuxOptionsWithEngine = selinuxControl(
  new Set([...seLinuxTypes, 'container_engine_t']),
)

function selinuxControl(allowedTypes: ReadonlySet<string>): Control {
  const isBad = ({ type, user, role }: Options): boolean =>
    !allowedTypes.has(type) || user !== '' || role !== ''
  return ({ security, containers }) => {
    const ofPod = optionsOf(security)
    const bad = containers.filter((container) => isBad(optionsOf(container.security)))
    const who = setters(isBad(ofPod), bad)
    if (who === '') return undefined
    const all = [ofPod, ...bad.map((container) => optionsOf(container.security))]
    const types = sorted(all.map(({ type }) => type).filter((type) => !allowedTypes.has(type)))
    const what = [
      ...(types.length === 0 ? [] : [named('type', types)]),
      ...(all.some(({ user }) => user !== '') ? ['user may not be set'] : []),
      ...(all.some(({ role }) => role !== '') ? ['role may not be set'] : []),
    ]
    return {
      reason: 'seLinuxOptions',
      detail: `${who} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`,
    }
  }
}

type Options = { readonly type: string; readonly user: string; readonly role: string }

function optionsOf(security: PodView['security']): Options {
  const { type, user, role } = fieldsOf(security['seLinuxOptions'])
  return { type: textOf(type), user: textOf(user), role: textOf(role) }
}

/**
 * Control for versions in which profiles were set by annotations, because the API had no fields for
 * them.
 */
export const seccompByAnnotation: Control = ({ annotations, containers }) => {
  const keys = [
    'seccomp.security.alpha.kubernetes.io/pod',
    ...containers.map(({ name }) => `container.seccomp.security.alpha.kubernetes.io/${name}`),
  ]
  const bad = keys.flatMap((key) => {
    const profile = Object.hasOwn(annotations, key) ? textOf(annotations[key]) : ''
    const isAllowed =
      ['', 'runtime/default', 'docker/default'].includes(profile) ||
      profile.startsWith('localhost/')
    return isAllowed ? [] : [`${key}="${profile}"`]
  })
  if (bad.length === 0) return undefined
  const word = bad.length === 1 ? 'forbidden annotation' : 'forbidden annotations'
  return { reason: 'seccompProfile', detail: `${word} ${shownItems(sorted(bad), (text) => text)}` }
}

export const seccompProfile: Control = (pod) => {
  const detail = forbiddenSeccomp(pod)
  return detail === undefined ? undefined : { reason: 'seccompProfile', detail }
}

/** Returns a string that lists the pod and containers that set a forbidden seccomp type. */
export function forbiddenSeccomp({ security, containers }: PodView): string | undefined {
  const podType = seccompTypeOf(security)
  const bad = containers.filter((container) => isForbidden(seccompTypeOf(container.security)))
  const who = setters(isForbidden(podType), bad)
  if (who === '') return undefined
  const types = [
    ...(isForbidden(podType) ? [podType] : []),
    ...bad.map((container) => seccompTypeOf(container.security)),
  ]
  return `${who} must not set securityContext.seccompProfile.type to ${quoted(sorted(types))}`
}

export const seccompTypeOf = (security: PodView['security']): string =>
  textOf(fieldsOf(security['seccompProfile'])['type'])
