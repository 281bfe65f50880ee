/**
 * Defaults of the types in this API group, in addition to the defaults in the OpenAPI documents.
 * They apply to a type wherever it occurs.
 */
import { type Fields, fieldsOf, itemsOf, type Json } from '../../../api/object.ts'
import { mapEach } from '../../../lib/scheduling/parts.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

/**
 * Defaults, keyed by package and type name. `set` computes further defaults, after the fixed values
 * in `fields` are set.
 */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  [
    'apps/v1 DeploymentSpec',
    {
      fields: { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
      set: withStrategy,
    },
  ],
  ['apps/v1 ReplicaSetSpec', { fields: { replicas: 1 } }],
  ['apps/v1 DaemonSetSpec', { fields: { revisionHistoryLimit: 10 }, set: withDaemonStrategy }],
  [
    'apps/v1 StatefulSetSpec',
    {
      fields: {
        replicas: 1,
        podManagementPolicy: 'OrderedReady',
        revisionHistoryLimit: 10,
        persistentVolumeClaimRetentionPolicy: {},
      },
      set: withStatefulParts,
    },
  ],
  [
    'apps/v1 StatefulSetPersistentVolumeClaimRetentionPolicy',
    { fields: { whenDeleted: 'Retain', whenScaled: 'Retain' } },
  ],
]

function withStrategy(spec: Fields): Fields {
  const { type = 'RollingUpdate', rollingUpdate, ...rest } = fieldsOf(spec['strategy'])
  if (type !== 'RollingUpdate') return spec
  const rolling = { maxUnavailable: '25%', maxSurge: '25%', ...fieldsOf(rollingUpdate) }
  return changed(spec, 'strategy', { ...rest, type, rollingUpdate: rolling })
}

function withDaemonStrategy(spec: Fields): Fields {
  const { type = 'RollingUpdate', rollingUpdate, ...rest } = fieldsOf(spec['updateStrategy'])
  // If the type is not RollingUpdate, a rollingUpdate in the request is kept, and its missing
  // fields are set to zero.
  if (type !== 'RollingUpdate' && rollingUpdate === undefined) return spec
  const maxUnavailable = type === 'RollingUpdate' ? 1 : 0
  const rolling = { maxUnavailable, maxSurge: 0, ...fieldsOf(rollingUpdate) }
  return changed(spec, 'updateStrategy', { ...rest, type, rollingUpdate: rolling })
}

function withStatefulParts(spec: Fields): Fields {
  return withStatefulStrategy(withClaimKinds(spec))
}

/** Sets kind and apiVersion in each of the volumeClaimTemplates. */
function withClaimKinds(spec: Fields): Fields {
  const { volumeClaimTemplates: templates } = spec
  if (!Array.isArray(templates)) return spec
  const claims = mapEach('claims of StatefulSet', itemsOf(templates), (claim) => ({
    ...claim,
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
  }))
  return changed(spec, 'volumeClaimTemplates', claims)
}

/**
 * Sets the default partition of a RollingUpdate strategy, if its type was omitted or if it has the
 * field `rollingUpdate`.
 */
function withStatefulStrategy(spec: Fields): Fields {
  const strategy = fieldsOf(spec['updateStrategy'])
  const { type = 'RollingUpdate', rollingUpdate } = strategy
  const isSpecified = rollingUpdate !== undefined || strategy['type'] === undefined
  if (type !== 'RollingUpdate' || !isSpecified) return spec
  const rolling = { partition: 0, ...fieldsOf(rollingUpdate) }
  return changed(spec, 'updateStrategy', { ...strategy, type, rollingUpdate: rolling })
}

const changed = (fields: Fields, name: string, value: Json): Fields =>
  isSame(fields[name], value) ? fields : { ...fields, [name]: value }
