/**
 * Defaults of this group's types wherever they occur, in addition to those that OpenAPI publishes.
 */
import { type Fields } from '../../../api/object.ts'
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

const RBAC_GROUP = 'rbac.authorization.k8s.io'

/** Defaults by package and type name. `set` runs after the fixed values are set. */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['rbac/v1 RoleRef', { fields: { apiGroup: RBAC_GROUP } }],
  ['rbac/v1 Subject', { fields: {}, set: withSubjectGroup }],
]

function withSubjectGroup(subject: Fields): Fields {
  const { kind, apiGroup } = subject
  const isUser = kind === 'User' || kind === 'Group'
  return isUser && apiGroup === undefined ? { ...subject, apiGroup: RBAC_GROUP } : subject
}
