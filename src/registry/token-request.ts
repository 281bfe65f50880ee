/** Defines TokenRequest, the kind of the serviceaccounts/token subresource. */
import { type Fields, fieldsOf } from '../api/object.ts'
import type { ObjectSchema } from '../objects/schema/object-schema.ts'
import type { Resource } from './resource.ts'
import { schemeOf } from './scheme.ts'
import { typeOf } from './types.ts'

const EXPIRATION_SECONDS = 3600

const group = 'authentication.k8s.io'
const version = 'v1'
const kind = 'TokenRequest'

export const tokenRequestKind = { group, version, kind } as const

/**
 * Returns a copy of the `serviceaccounts` resource, with the kind TokenRequest instead of
 * ServiceAccount.
 */
export function asTokenRequest(resource: Resource): Resource {
  const shape: ObjectSchema = {
    struct: typeOf('authentication/v1', kind, resource.release),
    setDefaults: (object) => ({ ...object, spec: withLifetime(fieldsOf(object['spec'])) }),
    stored: undefined,
    scheme: schemeOf(group, resource.release),
  }
  return { ...resource, ...tokenRequestKind, shape }
}

const withLifetime = (spec: Fields): Fields =>
  spec['expirationSeconds'] === undefined
    ? { ...spec, expirationSeconds: EXPIRATION_SECONDS }
    : spec
