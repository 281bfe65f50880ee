/**
 * Rules for writes of built-in kinds. They combine the rules for all kinds, the properties of the
 * kind in its strategy (strategy.ts), and the kind's own rules in kinds/.
 */
import type { Gates } from '../api/gates.ts'
import { type KubeObject, type ObjectMeta, present } from '../api/object.ts'
import { assert } from '../lib/errors.ts'
import { isEqual } from '../objects/schema/equal.ts'
import type { Field, Schema, Struct } from '../objects/schema/schema.ts'
import type { GatedFields } from './gated-fields.ts'
import type { ClusterFacts, KindRules, KindUpdateRules } from './kind-rules.ts'
import { relaxedBy } from './kinds/core/pod/relaxed.ts'
import { valueAt, withField, withGeneration, without } from './object-parts.ts'
import { podSpecOf } from './pod-specs.ts'
import type { ResourceRow } from './read-resources.ts'
import type { UpdateRules, WriteRules } from './resource.ts'
import {
  type Generation,
  metadataRulesOf,
  nameRuleOf,
  resetPathsOf,
  type Strategy,
} from './strategy.ts'
import { typeOf } from './types.ts'

type WriteRulesOptions = {
  readonly cluster: ClusterFacts
  readonly gated: GatedFields
  /** Returns the type of the kind. The type is created on first use. */
  readonly struct: () => Struct
}

export function writeRules(
  row: ResourceRow,
  rules: KindRules,
  { cluster, gated, struct }: WriteRulesOptions,
): WriteRules {
  const { strategy = {}, validateInSlices } = rules
  const { generation, takesStatus } = strategy
  const { gates } = cluster
  const hasStatus = hasSubresource(row, 'status')
  const tools: KindTools = {
    row,
    gates,
    struct,
    gatesFor: gatesOfStored(row, gates),
    dropGated: gatedDropper(row, rules, { cluster, gated, struct }),
  }
  const { gatesFor, dropGated } = tools
  return {
    allowsUnconditionalUpdate: strategy.needsResourceVersion !== true,
    createsOnUpdate: strategy.createsOnUpdate === true,
    metadata: {
      ...metadataRulesOf(strategy, gates.release),
      ...(rules.checkName === undefined
        ? nameRuleOf(strategy, gates)
        : { checkName: rules.checkName }),
      ...(rules.usesGenerateNameVerbatim === true ? { usesGenerateNameVerbatim: true } : {}),
    },
    prepareCreate: (given, writer) => {
      const object = hasStatus && takesStatus === undefined ? without(given, 'status') : given
      const usable = dropGated(object, undefined)
      const numbered =
        generation === undefined || generation.kept === true ? usable : withGeneration(usable, 1)
      return rules.prepareCreate?.(numbered, writer, gates) ?? numbered
    },
    prepareUpdate: (given, current, writer) => {
      const keepsStatus = hasStatus && takesStatus !== 'create and update'
      const whole = keepsStatus ? withField(given, 'status', current['status']) : given
      const object = dropGated(whole, current)
      const prepared = rules.prepareUpdate?.(object, current, writer, gates) ?? object
      return generation === undefined
        ? prepared
        : counted(prepared, current, { generation, struct: struct() })
    },
    validate: (object) => rules.validate?.(object, gates) ?? [],
    validateUpdate: (object, current) =>
      (rules.validateUpdate === undefined
        ? rules.validate?.(object, gatesFor(current))
        : rules.validateUpdate(object, current, gatesFor(current))) ?? [],
    ...(validateInSlices && {
      validateInSlices: (...args) => validateInSlices(args[0], args[1], args[2], gates),
    }),
    ...namespaceRuleOf(rules, gates),
    warnings: (object, current) => rules.warnings?.(object, current, gates) ?? [],
    subresources: subresourceRules(rules, tools),
    resetPaths: resetPathsOf(strategy, { hasStatus, release: gates.release }),
  }
}

const namespaceRuleOf = (
  { namespaceRule }: Pick<WriteRules, 'namespaceRule'>,
  gates: Gates,
): Pick<WriteRules, 'namespaceRule'> =>
  namespaceRule === undefined
    ? {}
    : { namespaceRule: (object, current) => namespaceRule(object, current, gates) }

export const hasSubresource = ({ subresources }: ResourceRow, name: string): boolean =>
  subresources.some((subresource) => subresource.name === name)

/** Returns the name of a kind in the form used in error messages: `Deployment.apps`. */
export const kindName = ({
  kind,
  group,
}: {
  readonly kind: string
  readonly group: string
}): string => (group === '' ? kind : `${kind}.${group}`)

type KindTools = {
  readonly row: ResourceRow
  readonly gates: Gates
  readonly struct: () => Struct
  /**
   * Returns the feature gates for an update. A gate that is off counts as on if the stored object
   * already uses its feature.
   */
  readonly gatesFor: (current: KubeObject) => Gates
  /** Drops the fields whose feature gate is off, unless the stored object has them. */
  readonly dropGated: (object: KubeObject, current: KubeObject | undefined) => KubeObject
}

function gatesOfStored(row: ResourceRow, gates: Gates): KindTools['gatesFor'] {
  const name = kindName(row)
  return (current) => {
    const before = podSpecOf(current, name)
    return before === undefined ? gates : relaxedBy(gates, before)
  }
}

function gatedDropper(
  row: ResourceRow,
  { gatedForm }: KindRules,
  { cluster, gated, struct: ownStruct }: WriteRulesOptions,
): KindTools['dropGated'] {
  if (gatedForm === undefined) return (object, current) => gated.drop(object, current, ownStruct())
  return (object, current) => {
    const struct = typeOf(
      row.packageName.replace(/[^/]*$/, gatedForm.version),
      row.kind,
      cluster.gates.release,
    )
    if (!gated.areIn(struct)) return object
    const whole = gatedForm.to(object)
    const usable = gated.drop(whole, current && gatedForm.to(current), struct)
    return usable === whole ? object : gatedForm.from(usable)
  }
}

function subresourceRules(
  { strategy = {}, status = {}, subresourceRules: others = {} }: KindRules,
  { row, gates, gatesFor, dropGated, struct }: KindTools,
): WriteRules['subresources'] {
  const { generation } = strategy
  return {
    ...(hasSubresource(row, 'status')
      ? { status: gatedRules(statusRules(strategy, status, gates), dropGated) }
      : {}),
    ...Object.fromEntries(
      Object.entries(others).map(([part, own]) => [
        part,
        countingRules(gatedRules(withGates(own, gatesFor), dropGated), generation, struct),
      ]),
    ),
  }
}

const withGates = (
  rules: KindUpdateRules,
  gatesFor: (current: KubeObject) => Gates,
): UpdateRules => ({
  ...rules,
  validateUpdate: (object, current) => rules.validateUpdate(object, current, gatesFor(current)),
})

const gatedRules = (
  rules: UpdateRules,
  dropGated: (object: KubeObject, current: KubeObject) => KubeObject,
): UpdateRules => ({
  ...rules,
  prepareUpdate: (object, current, writer) =>
    dropGated(rules.prepareUpdate(object, current, writer), current),
})

/**
 * Returns the rules of a subresource, extended so that a write also increments the generation. A
 * change through the subresource then counts like a change of the object itself.
 */
function countingRules(
  rules: UpdateRules,
  generation: Generation | undefined,
  struct: () => Struct,
): UpdateRules {
  if (generation === undefined) return rules
  return {
    ...rules,
    prepareUpdate: (object, current, writer) =>
      counted(rules.prepareUpdate(object, current, writer), current, {
        generation,
        struct: struct(),
      }),
  }
}

/**
 * Rules for updates through /status. Such an update can change the status and the metadata, except
 * the metadata fields in `statusKeeps`.
 */
function statusRules(
  { statusKeeps = [] }: Strategy,
  own: Partial<KindUpdateRules>,
  gates: Gates,
): UpdateRules {
  return {
    prepareUpdate: (object, current, writer) => {
      const was = current.metadata
      const metadata =
        statusKeeps === 'metadata'
          ? metadataOfStatusOnly(object.metadata, was)
          : present({
              ...object.metadata,
              ...Object.fromEntries(statusKeeps.map((name) => [name, was[name]])),
            })
      const prepared = withField({ ...current, metadata }, 'status', object['status'])
      return own.prepareUpdate?.(prepared, current, writer) ?? prepared
    },
    validateUpdate: (object, current) => own.validateUpdate?.(object, current, gates) ?? [],
    warnings: own.warnings ?? (() => []),
    ...namespaceRuleOf(own, gates),
    ...(own.updateChecks === undefined ? {} : { updateChecks: own.updateChecks }),
  }
}

/**
 * Replaces the metadata by the stored metadata, except for the identifying fields. These fields are
 * validated as the client sent them.
 */
function metadataOfStatusOnly(given: ObjectMeta, current: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion } = given
  return present({ ...current, name, namespace, uid, resourceVersion })
}

type Counting = { readonly generation: Generation; readonly struct: Struct }

function counted(
  object: KubeObject,
  current: KubeObject,
  { generation, struct }: Counting,
): KubeObject {
  const isChanged = generation.fields.some((path) => {
    const [now, before] = [valueAt(object, path), valueAt(current, path)]
    return !isEqual(schemaAt(struct, path), now, before, generation.equality)
  })
  return isChanged ? withGeneration(object, (current.metadata.generation ?? 0) + 1) : object
}

function schemaAt(struct: Struct, path: string): Schema {
  let schema: Schema = struct
  for (const name of path.split('.')) {
    const field: Field | undefined = schema.type === 'struct' ? schema.byName.get(name) : undefined
    assert(field !== undefined, `${struct.name} has a field ${path}`)
    schema = field.schema
  }
  return schema
}
