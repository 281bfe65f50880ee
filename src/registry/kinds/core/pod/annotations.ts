/**
 * Rules for annotations of Pods: those that fields have replaced, and those that other components
 * use.
 */
import {
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidValue,
} from '../../../../api/field-fault.ts'
import type { Gates } from '../../../../api/gates.ts'
import { jsonFault } from '../../../../api/json-scanner.ts'
import { entriesOf, type Fields, fieldsOf, textOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'
import { keysOf } from '../../../../lib/scheduling/long-lists.ts'
import { faultsOf } from '../../../rules/rule.ts'
import { INT32_MAX, relativePath } from '../../../rules/scalars.ts'
import { containersOf } from './windows.ts'

export const mirror = 'kubernetes.io/config.mirror'
export const deletionCost = 'controller.kubernetes.io/pod-deletion-cost'
const oldTolerations = 'scheduler.alpha.kubernetes.io/tolerations'
export const podSeccomp = 'seccomp.security.alpha.kubernetes.io/pod'
export const containerSeccomp = 'container.seccomp.security.alpha.kubernetes.io/'
export const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'

/** Validates the annotations of a Pod, which are at `path`. */
export function validatePodAnnotations(pod: Fields, path: string, gates: Gates): FieldFault[] {
  const spec = fieldsOf(pod['spec'])
  const annotations = entriesOf(fieldsOf(pod['metadata'])['annotations'])
  if (annotations.length === 0) return []
  const containers = keysOf(containersOf(spec), ({ container }) => textOf(container['name']))
  return faultsOfEach(annotations, ([key, value]) => {
    const at = `${path}[${key}]`
    switch (key) {
      case mirror:
        if (textOf(spec['nodeName']) !== '') return []
        return [invalidValue(at, value, 'must set spec.nodeName if mirror pod annotation is set')]
      case deletionCost:
        return isDeletionCost(value) || !gates.isOn('PodDeletionCost')
          ? []
          : [invalidValue(at, value, 'must be a 32bit integer')]
      case oldTolerations: {
        const fault = value === '' ? undefined : jsonFault(value, 'array')
        return fault === undefined ? [] : [invalidValue(path, oldTolerations, fault)]
      }
      case podSeccomp:
        return seccompFaults(value, `${path}.${key}`)
      default:
        if (key.startsWith(containerSeccomp)) return seccompFaults(value, `${path}.${key}`)
        return key.startsWith(appArmorPrefix) ? appArmorFaults(key, value, { at, containers }) : []
    }
  })
}

export const isDeletionCost = (text: string): boolean =>
  /^(0|-?[1-9][0-9]*)$/.test(text) &&
  text.length < 12 &&
  Number(text) <= INT32_MAX &&
  Number(text) >= -INT32_MAX - 1

const seccompWords = ['', 'runtime/default', 'docker/default', 'unconfined']

function seccompFaults(profile: string, path: string): FieldFault[] {
  if (seccompWords.includes(profile)) return []
  if (profile.startsWith('localhost/'))
    return faultsOf(relativePath, profile.slice('localhost/'.length), path)
  return [invalidValue(path, profile, 'must be a valid seccomp profile')]
}

function appArmorFaults(
  key: string,
  profile: string,
  { at, containers }: { readonly at: string; readonly containers: ReadonlySet<string> },
): FieldFault[] {
  const name = key.slice(appArmorPrefix.length)
  const faults = containers.has(name) ? [] : [invalidValue(at, name, 'container not found')]
  if (isAppArmorProfile(profile)) return faults
  return [...faults, invalidValue(at, profile, `invalid AppArmor profile name: ${quote(profile)}`)]
}

const isAppArmorProfile = (profile: string): boolean =>
  profile === '' ||
  profile === 'runtime/default' ||
  profile === 'unconfined' ||
  profile.startsWith('localhost/')

/**
 * Returns the profile type and the file that an annotation specifies. Returns undefined if the
 * annotation has another format.
 */
export function profileOf(
  annotation: string,
): { readonly type: string; readonly localhostProfile?: string } | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default' || annotation === 'docker/default')
    return { type: 'RuntimeDefault' }
  if (!annotation.startsWith('localhost/')) return undefined
  return { type: 'Localhost', localhostProfile: annotation.slice('localhost/'.length) }
}

/** Requires that an annotation of a new Pod has the same value as the field that replaces it. */
export function validateSaidTwice(pod: Fields): FieldFault[] {
  const spec = fieldsOf(pod['spec'])
  const annotations = fieldsOf(fieldsOf(pod['metadata'])['annotations'])
  const compare = (
    key: string,
    owner: Fields,
    { path, field, word }: ComparedField,
  ): FieldFault[] => {
    const annotation = Object.hasOwn(annotations, key) ? textOf(annotations[key]) : undefined
    const profile = fieldsOf(owner['securityContext'])[field]
    if (annotation === undefined || profile === undefined) return []
    return profileFaults(fieldsOf(profile), profileOf(annotation), {
      path: `${path}.securityContext.${field}`,
      word,
    })
  }
  return [
    ...compare(podSeccomp, spec, { path: 'spec', field: 'seccompProfile', word: 'seccomp' }),
    ...faultsOfEach(containersOf(spec), ({ container, at }) => {
      const name = textOf(container['name'])
      const path = `spec.${at}`
      return [
        ...compare(`${containerSeccomp}${name}`, container, {
          path,
          field: 'seccompProfile',
          word: 'seccomp',
        }),
        ...compare(`${appArmorPrefix}${name}`, container, {
          path,
          field: 'appArmorProfile',
          word: 'apparmor',
        }),
      ]
    }),
  ]
}

type ComparedField = { readonly path: string; readonly field: string; readonly word: string }

function profileFaults(
  field: Fields,
  said: ReturnType<typeof profileOf>,
  { path, word }: Pick<ComparedField, 'path' | 'word'>,
): FieldFault[] {
  if (said === undefined) return []
  if (field['type'] !== said.type) {
    return [forbiddenField(`${path}.type`, `${word} type in annotation and field must match`)]
  }
  if (said.localhostProfile === undefined || field['localhostProfile'] === said.localhostProfile)
    return []
  return [
    forbiddenField(
      `${path}.localhostProfile`,
      `${word} profile in annotation and field must match`,
    ),
  ]
}
