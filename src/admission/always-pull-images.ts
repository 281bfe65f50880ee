/**
 * Makes all containers and image volumes of pods always pull their images. Otherwise a pod could
 * use a private image without credentials after another pod has pulled the image to the node. An
 * update that adds no new image is not checked.
 */
import { aggregate } from '../api/aggregate.ts'
import { unclassified } from '../api/errors.ts'
import { FAULTS_MAX, notSupported } from '../api/field-fault.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../api/object.ts'
import { eachItem, everyItem, mapEach } from '../lib/scheduling/parts.ts'
import { type Attributes, type Plugin, refusal, targetOf } from './admission.ts'

const always = 'Always'
const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const

export const alwaysPullImages: Plugin = {
  name: 'AlwaysPullImages',
  resources: new Set(['pods']),
  mutate: (attributes) => {
    const { object, context } = attributes
    if (object === undefined || !isConcerned(attributes)) return object
    return context.divide(() => ({ ...object, spec: pullingAlways(fieldsOf(object['spec'])) }))
  },
  // Check the pull policies again, because a webhook might have changed them after `mutate` was
  // called.
  validate: (attributes) => {
    const { object, context } = attributes
    if (object === undefined || !isConcerned(attributes)) return undefined
    return context.divide(() => checkPolicies(attributes, fieldsOf(object['spec'])))
  },
}

function checkPolicies(attributes: Attributes, spec: Fields): void {
  const faults = eachItem(
    'pull policies',
    policiesIn(spec),
    (): string[] => [],
    (found, [path, policy]) => {
      if (policy === always) return true
      const { message } = notSupported(path, policy, [always])
      found.push(refusal(attributes, `${path}: ${message}`).message)
      return found.length < FAULTS_MAX
    },
  )
  // As in kube-apiserver, the combined error has neither the code nor the reason of the individual
  // errors.
  if (faults.length > 0) throw unclassified(aggregate(faults))
}

function isConcerned(attributes: Attributes): boolean {
  const { operation, object, oldObject } = attributes
  if (targetOf(attributes) !== 'pods') return false
  if (operation === 'CREATE') return true
  const known = new Set(imagesIn(fieldsOf(oldObject?.['spec'])))
  return (
    operation === 'UPDATE' &&
    imagesIn(fieldsOf(object?.['spec'])).some((image) => !known.has(image))
  )
}

const imagesIn = (spec: Fields): string[] =>
  lists.flatMap((list) => itemsOf(spec[list]).map(({ image }) => textOf(image)))

function pullingAlways(spec: Fields): Fields {
  const pulling = Object.fromEntries(
    lists
      .filter((list) => spec[list] !== undefined)
      .map((list) => [
        list,
        mapEach('always pulling containers', itemsOf(spec[list]), (container) => ({
          ...container,
          imagePullPolicy: always,
        })),
      ]),
  )
  const volumes = itemsOf(spec['volumes'])
  if (everyItem('volumes without images', volumes, ({ image }) => image === undefined))
    return { ...spec, ...pulling }
  return {
    ...spec,
    ...pulling,
    volumes: mapEach('always pulling volumes', volumes, (volume) =>
      volume['image'] === undefined
        ? volume
        : { ...volume, image: { ...fieldsOf(volume['image']), pullPolicy: always } },
    ),
  }
}

/** Returns the pull policies of a pod with their field paths. */
function policiesIn(spec: Fields): (readonly [path: string, policy: string])[] {
  const ofContainers = lists.flatMap((list) =>
    mapEach(
      'pull policies of containers',
      itemsOf(spec[list]),
      ({ imagePullPolicy }, at) =>
        [`spec.${list}[${at}].imagePullPolicy`, textOf(imagePullPolicy)] as const,
    ),
  )
  const ofVolumes = itemsOf(spec['volumes']).flatMap(({ image }, at) =>
    image === undefined
      ? []
      : [[`spec.volumes[${at}].image.pullPolicy`, textOf(fieldsOf(image)['pullPolicy'])] as const],
  )
  return [...ofContainers, ...ofVolumes]
}
