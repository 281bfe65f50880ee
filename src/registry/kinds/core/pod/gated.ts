/** Fields whose gates are off: they are read, and then forgotten. */
import { type Fields, fieldsOf, itemsOf, omit } from '../../../../api/object.ts'

/** PodLevelResources, DynamicResourceAllocation and ImageVolume. */
export function withoutGatedSpec(spec: Fields): Fields {
  const hasImages = itemsOf(spec['volumes']).some((volume) => volume['image'] !== undefined)
  if (spec['resources'] === undefined && spec['resourceClaims'] === undefined && !hasImages) return spec
  const rest = omit(spec, 'resources', 'resourceClaims')
  if (!hasImages) return rest
  return { ...rest, volumes: itemsOf(spec['volumes']).filter((volume) => volume['image'] === undefined) }
}

/** DynamicResourceAllocation and ContainerStopSignals. */
export function withoutGatedParts(container: Fields): Fields {
  const { lifecycle, resources } = container
  const hasClaims = fieldsOf(resources)['claims'] !== undefined
  const hasSignal = fieldsOf(lifecycle)['stopSignal'] !== undefined
  if (!hasClaims && !hasSignal) return container
  const handlers = omit(fieldsOf(lifecycle), 'stopSignal')
  const kept = hasSignal && Object.keys(handlers).length === 0 ? omit(container, 'lifecycle') : container
  return {
    ...kept,
    ...(kept['lifecycle'] === undefined ? {} : { lifecycle: handlers }),
    ...(hasClaims ? { resources: omit(fieldsOf(resources), 'claims') } : {}),
  }
}

/** ClusterTrustBundleProjection. */
export function withoutTrustBundle(source: Fields): Fields {
  return source['clusterTrustBundle'] === undefined ? source : omit(source, 'clusterTrustBundle')
}
