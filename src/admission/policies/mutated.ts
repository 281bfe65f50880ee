/** Describes the kind of the object that a mutation changes. */
import type { Expected } from '../../objects/codec/decode-body.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { kindAt } from '../match/versions.ts'

export type MutatedKind = {
  readonly expected: Expected
  /**
   * Whether the OpenAPI document of the kind's own group and version describes the kind. The
   * options of a CONNECT are in no document. A Scale is only in the documents of resources with a
   * scale subresource.
   */
  readonly hasSchema: boolean
  /** Minor version of the release. */
  readonly release: number
}

/**
 * Returns the kind of the object. `resource` is the resource in the version that the policy names.
 */
export function mutatedBy(
  resource: Resource,
  { operation, subresource, resource: own, shape }: Attributes,
): MutatedKind {
  const kind = kindAt(resource, subresource)
  const isOfResource = kindAt(own, subresource).kind === own.kind
  return {
    expected: { ...kind, shape: isOfResource ? resource.shape : shape() },
    hasSchema:
      operation !== 'CONNECT' && kind.group === resource.group && kind.version === resource.version,
    release: resource.release,
  }
}
