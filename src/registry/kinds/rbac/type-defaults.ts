/**
 * Defaults of the types in this API group, in addition to the defaults in the OpenAPI documents.
 * They apply to a type wherever it occurs.
 */
import { type Fields } from '../../../api/object.ts'
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

const RBAC_GROUP = 'rbac.authorization.k8s.io'

/**
 * Defaults, keyed by package and type name. `set` computes further defaults, after the fixed values
 * in `fields` are set.
 */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['rbac/v1 RoleRef', { fields: { apiGroup: RBAC_GROUP } }],
  ['rbac/v1 Subject', { fields: {}, set: withSubjectGroup }],
]

function withSubjectGroup(subject: Fields): Fields {
  const { kind, apiGroup } = subject
  const isUser = kind === 'User' || kind === 'Group'
  return isUser && apiGroup === undefined ? { ...subject, apiGroup: RBAC_GROUP } : subject
}
