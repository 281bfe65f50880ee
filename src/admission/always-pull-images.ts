/**
 * Makes all containers and image volumes of pods always pull their images. Otherwise a pod could
 * use a private image without credentials after another pod has pulled the image to the node. An
 * update that adds no new image is not checked.
 */
import { aggregate } from '../api/aggregate.ts'
import { unclassified } from '../api/errors.ts'
import { notSupported } from '../api/field-fault.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../api/object.ts'
import { type Attributes, type Plugin, refusal, targetOf } from './admission.ts'

const always = 'Always'
const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const

export const alwaysPullImages: Plugin = {
  name: 'AlwaysPullImages',
  resources: new Set(['pods']),
  mutate: (attributes) => {
    const { object } = attributes
    if (object === undefined || !isConcerned(attributes)) return object
    return { ...object, spec: pullingAlways(fieldsOf(object['spec'])) }
  },
  // Check the result, because a webhook might have changed a pull policy after `mutate` was called.
  validate: (attributes) => {
    const { object } = attributes
    if (object === undefined || !isConcerned(attributes)) return
    const faults = policiesIn(fieldsOf(object['spec']))
      .filter(([, policy]) => policy !== always)
      .map(([path, policy]) => notSupported(path, policy, [always]))
    if (faults.length === 0) return
    // As in kube-apiserver, the combined error has neither the code nor the reason of the
    // individual errors.
    throw unclassified(
      aggregate(
        faults.map(({ path, message }) => refusal(attributes, `${path}: ${message}`).message),
      ),
    )
  },
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
        itemsOf(spec[list]).map((container) => ({ ...container, imagePullPolicy: always })),
      ]),
  )
  const volumes = itemsOf(spec['volumes'])
  if (!volumes.some(({ image }) => image !== undefined)) return { ...spec, ...pulling }
  return {
    ...spec,
    ...pulling,
    volumes: volumes.map((volume) =>
      volume['image'] === undefined
        ? volume
        : { ...volume, image: { ...fieldsOf(volume['image']), pullPolicy: always } },
    ),
  }
}

/** Returns the pull policies of a pod with their field paths. */
function policiesIn(spec: Fields): (readonly [path: string, policy: string])[] {
  const ofContainers = lists.flatMap((list) =>
    itemsOf(spec[list]).map(
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
