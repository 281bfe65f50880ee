/**
 * Parts of Pods that depend on a feature gate and must be dropped as a whole, not field by field.
 */
import { type Fields, itemsOf, type Json } from '../../../../api/object.ts'

/**
 * A part of a type that depends on a feature gate. It is kept or dropped as a whole, because
 * dropping single fields would leave an invalid object.
 */
export type GatedPart = {
  readonly gate: string
  /** The first release that drops the part. If absent, all releases drop the part. */
  readonly since?: number
  readonly isUsed: (value: Fields) => boolean
  /**
   * Called with the stored value on an update. If the result is true, the part is kept in the new
   * value, even if the gate is off. Defaults to `isUsed`.
   */
  readonly isKept?: (value: Fields) => boolean
  readonly drop: (value: Fields) => Fields
}

const isImage = (volume: Fields): boolean => volume['image'] !== undefined

/** Drops image volumes, and the mounts that refer to them. */
export const imageVolumes: GatedPart = {
  gate: 'ImageVolume',
  isUsed: ({ volumes }) => itemsOf(volumes).some(isImage),
  drop: (spec) => {
    const volumes = itemsOf(spec['volumes'])
    const names = new Set(volumes.filter(isImage).map(({ name }) => name))
    if (names.size === 0) return spec
    const lists = ['containers', 'initContainers', 'ephemeralContainers'].flatMap(
      (list): [string, Json][] =>
        Array.isArray(spec[list])
          ? [[list, itemsOf(spec[list]).map((container) => withoutMounts(container, names))]]
          : [],
    )
    return {
      ...spec,
      ...Object.fromEntries(lists),
      volumes: volumes.filter((volume) => !isImage(volume)),
    }
  },
}

function withoutMounts(container: Fields, volumes: ReadonlySet<Json | undefined>): Fields {
  const mounts = itemsOf(container['volumeMounts'])
  const volumeMounts = mounts.filter(({ name }) => !volumes.has(name))
  return volumeMounts.length === mounts.length ? container : { ...container, volumeMounts }
}
