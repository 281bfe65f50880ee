/** A gated part of Pods for which it is not enough to drop a gated field. */
import { type Fields, itemsOf, type Json } from '../../../../api/object.ts'

/**
 * A gated part of a type for which it is not enough to drop a gated field. It is kept or dropped as
 * a whole.
 */
export type GatedPart = {
  readonly gate: string
  readonly isUsed: (value: Fields) => boolean
  /** Whether the stored value allows the part to be kept. Defaults to `isUsed`. */
  readonly isKept?: (value: Fields) => boolean
  readonly drop: (value: Fields) => Fields
}

const isImage = (volume: Fields): boolean => volume['image'] !== undefined

/** Drops image volumes together with their mounts. */
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
