/** What a mutation needs to know of the object that it changes. */
import type { Expected } from '../../objects/codec/decode-body.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { kindAt } from '../match/versions.ts'

export type MutatedKind = {
  readonly expected: Expected
  /**
   * Whether the OpenAPI document of the kind's own version describes it. Options of a CONNECT are
   * in none, and a Scale is only in the documents of the resources that have one.
   */
  readonly hasSchema: boolean
}

/** `resource`: in the version that the policy asks for. */
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
  }
}
