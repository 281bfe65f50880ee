/**
 * Controls of the restricted level, which requires pods to drop the privileges that they do not
 * need.
 */
import { fieldsOf, itemsOf, textOf, textsOf } from '../../api/object.ts'
import { mapEach } from '../../lib/scheduling/parts.ts'
import { addedCapabilities } from './baseline.ts'
import { type Control, containersNamed, named, quoted, setters, sorted } from './pod-view.ts'
import { forbiddenSeccomp, isProfile, seccompTypeOf } from './profiles.ts'

/**
 * Wraps a control so that it skips Windows pods, to which Linux settings do not apply. The standard
 * exempts Windows pods since version 1.25.
 */
export const unlessWindows =
  (control: Control): Control =>
  (pod) =>
    pod.isWindows ? undefined : control(pod)

/**
 * Wraps a control so that it skips pods with a user namespace. The standard exempts them since
 * version 1.35.
 */
export const unlessUserNamespace =
  (control: Control): Control =>
  (pod) =>
    pod.hasUserNamespace ? undefined : control(pod)

export const allowPrivilegeEscalation: Control = ({ containers }) => {
  const bad = containers.filter(({ security }) => security['allowPrivilegeEscalation'] !== false)
  if (bad.length === 0) return undefined
  const detail = `${containersNamed(bad)} must set securityContext.allowPrivilegeEscalation=false`
  return { reason: 'allowPrivilegeEscalation != false', detail }
}

const allowedCapabilities: ReadonlySet<string> = new Set(['NET_BIND_SERVICE'])

export const restrictedCapabilities: Control = ({ containers }) => {
  const keeping = containers.filter(
    ({ security }) => !textsOf(fieldsOf(security['capabilities'])['drop']).includes('ALL'),
  )
  const added = addedCapabilities(containers, allowedCapabilities)
  const details = [
    ...(keeping.length === 0
      ? []
      : [`${containersNamed(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(added === undefined ? [] : [added]),
  ]
  return details.length === 0
    ? undefined
    : { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

const allowedVolumes: ReadonlySet<string> = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
])

export const restrictedVolumes: Control = ({ spec }) => {
  const volumes = mapEach('types of volumes', itemsOf(spec['volumes']), (volume) => ({
    name: textOf(volume['name']),
    type:
      Object.keys(volume).find((key) => key !== 'name' && volume[key] !== undefined) ?? 'unknown',
  }))
  const bad = volumes.filter(({ type }) => !allowedVolumes.has(type))
  if (bad.length === 0) return undefined
  const types = sorted(bad.map(({ type }) => type))
  const who = named(
    'volume',
    bad.map(({ name }) => name),
  )
  const verb = bad.length === 1 ? 'uses' : 'use'
  return {
    reason: 'restricted volume types',
    detail: `${who} ${verb} restricted ${named('volume type', types)}`,
  }
}

export const runAsNonRoot: Control = ({ security, containers, isRelaxed }) => {
  if (isRelaxed) return undefined
  const ofPod = security['runAsNonRoot']
  const refusing = setters(
    ofPod === false,
    containers.filter((container) => container.security['runAsNonRoot'] === false),
  )
  const reason = 'runAsNonRoot != true'
  if (refusing !== '')
    return { reason, detail: `${refusing} must not set securityContext.runAsNonRoot=false` }
  if (ofPod === true) return undefined
  const silent = containers.filter((container) => container.security['runAsNonRoot'] === undefined)
  if (silent.length === 0) return undefined
  return {
    reason,
    detail: `pod or ${containersNamed(silent)} must set securityContext.runAsNonRoot=true`,
  }
}

export const runAsUser: Control = ({ security, containers, isRelaxed }) => {
  if (isRelaxed) return undefined
  const isRoot = (context: typeof security): boolean => Number(context['runAsUser'] ?? -1) === 0
  const who = setters(
    isRoot(security),
    containers.filter((container) => isRoot(container.security)),
  )
  return who === ''
    ? undefined
    : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` }
}

export const requiredSeccompProfile: Control = (pod) => {
  const reason = 'seccompProfile'
  const forbidden = forbiddenSeccomp(pod)
  if (forbidden !== undefined) return { reason, detail: forbidden }
  if (isProfile(seccompTypeOf(pod.security))) return undefined
  const silent = pod.containers.filter(({ security }) => seccompTypeOf(security) === '')
  if (silent.length === 0) return undefined
  const types = quoted(['RuntimeDefault', 'Localhost']).replace(', ', ' or ')
  return {
    reason,
    detail: `pod or ${containersNamed(silent)} must set securityContext.seccompProfile.type to ${types}`,
  }
}
