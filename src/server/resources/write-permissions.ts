/**
 * Permissions that a user needs for some writes, in addition to the verb of the request. Examples:
 * to grant the permissions of a role, to create an object by an update, and to delete an object
 * that cannot be decoded.
 */
import { forbidden } from '../../api/errors.ts'
import type { Authorize } from '../../access/authorization/authorizer.ts'
import { refusal } from '../../access/authorization/refusal.ts'
import { confirmGrant } from '../../access/rbac/confirm-grant.ts'
import type { RolesInformer } from '../../access/rbac/roles-informer.ts'
import type { RoleResource } from '../../access/rbac/role.ts'
import { assert } from '../../lib/errors.ts'
import type { WritePermissions } from '../../request/verbs/access.ts'
import { holdObject } from '../../request/verbs/hold-values.ts'

export const createConfirmGrant =
  (
    roles: RolesInformer,
    plural: RoleResource,
    authorize: Authorize,
  ): NonNullable<WritePermissions['confirmGrant']> =>
  ({ user, namespace, context, http }, object, current) => {
    const { info, signal } = context
    assert(info.kind === 'resource', 'objects are written by paths of resources')
    const parts = {
      index: roles.index,
      latest: (until?: AbortSignal) => roles.latest(until),
      authorize,
    }
    return confirmGrant(parts, {
      user,
      resource: plural,
      namespace,
      name: info.name,
      object,
      current,
      signal,
      inParts: context.isLarge ? (work) => context.inParts(work) : undefined,
      reserve: (bytes) => holdObject(http, bytes),
    })
  }

export const createAuthorizeCreate =
  (authorize: Authorize): WritePermissions['authorizeCreate'] =>
  async ({ user, context }) => {
    const { info } = context
    if (info.kind !== 'resource') return
    const attributes = { ...info, verb: 'create' }
    const { verdict, reason } = await authorize(user, attributes, context)
    if (verdict !== 'allow') throw refusal(user, attributes, reason)
  }

export const createAuthorizeConnect =
  (authorize: Authorize): WritePermissions['authorizeConnect'] =>
  async ({ user, resource, name, context }) => {
    const { info } = context
    if (info.kind !== 'resource' || info.verb === 'create') return
    const { verdict, reason } = await authorize(user, { ...info, verb: 'create' }, context)
    if (verdict !== 'allow') throw forbidden(resource, name, reason)
  }

export const createAuthorizeUnsafeDelete =
  (authorize: Authorize): NonNullable<WritePermissions['authorizeUnsafeDelete']> =>
  async ({ user, resource, name, context }) => {
    const { info } = context
    assert(info.kind === 'resource', 'objects are deleted by paths of resources')
    const attributes = { ...info, verb: 'unsafe-delete-ignore-read-errors' }
    const { verdict, reason } = await authorize(user, attributes, context)
    if (verdict === 'allow') return
    throw forbidden(resource, name, `not permitted to do "${attributes.verb}", reason: ${reason}`)
  }
