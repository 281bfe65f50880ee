/**
 * Handles fields whose feature gate is off. Reads return these fields, so that data stored while
 * the gate was on is not lost. Writes drop them, unless the stored object already uses the gate.
 * The catalog of types declares the gates of fields (`gate=`).
 */
import type { Gates } from '../api/gates.ts'
import { type Fields, isFields, type Json, type KubeObject } from '../api/object.ts'
import { eachItem, isDivided } from '../lib/scheduling/parts.ts'
import type { Field, FieldGate, Schema, Struct } from '../objects/schema/schema.ts'
import { foreignSources } from './kinds/core/claim-gated.ts'
import { type GatedPart, imageVolumes } from './kinds/core/pod/gated.ts'
import { restartPolicies } from './kinds/core/pod/restart-rules.ts'

/**
 * Gates that count as in use as a whole: an object that uses one field of such a gate may use all
 * of its fields. For other gates, each field is considered separately.
 */
const wholeGates: ReadonlySet<string> = new Set([
  'CRDObservedGenerationTracking',
  'DRAAdminAccess',
  'DRAConsumableCapacity',
  'DRADeviceBindingConditions',
  'DRADeviceTaints',
  'DRAPartitionableDevices',
  'DRAPrioritizedList',
  'DRAResourceClaimDeviceStatus',
  'DynamicResourceAllocation',
  'PodObservedGenerationTracking',
])
/** Gates whose fields are dropped even if they are in use. */
const strictGates: ReadonlySet<string> = new Set(['ResourceHealthStatus'])

/** Gates that do not count as in use if their stored fields are empty. */
const unusedWhenEmpty: ReadonlySet<string> = new Set(['PodLevelResources'])
/**
 * Fields of a Pod's status that are kept if the spec uses the gate. It does not matter whether
 * these fields are stored.
 */
const usedBySpec: ReadonlyMap<string, string> = new Map([
  ['ContainerStatus allocatedResources', 'InPlacePodVerticalScaling resizePolicy'],
  ['ContainerStatus resources', 'InPlacePodVerticalScaling resizePolicy'],
  ['ContainerStatus user', 'SupplementalGroupsPolicy supplementalGroupsPolicy'],
  ['PodStatus resourceClaimStatuses', 'DynamicResourceAllocation'],
])
/** Fields that are also dropped if they become empty because a gated field was dropped. */
const goneWhenEmpty: ReadonlySet<string> = new Set([
  'lifecycle',
  'postStart',
  'preStop',
  'resources',
])
/** Gates whose fields are reset to their default instead of being dropped. */
const resetTo: ReadonlyMap<string, Json> = new Map([['ProcMountType', 'Default']])
/**
 * Templates in which gated fields are not dropped. The gate applies later, when objects are created
 * from these templates.
 */
const unlooked: ReadonlySet<string> = new Set(['volumeClaimTemplates'])

const parts: ReadonlyMap<string, readonly GatedPart[]> = new Map([
  ['core/v1 PersistentVolumeClaim', [foreignSources]],
  ['core/v1 PodSpec', [imageVolumes, restartPolicies]],
])

/** Drops the fields of all gates that are off. */
export class GatedFields {
  readonly #gates: Gates
  readonly #plans = new WeakMap<Struct, { plan: Plan | undefined }>()

  constructor(gates: Gates) {
    this.#gates = gates
  }

  /** Whether objects of this type can have gated fields. */
  areIn(struct: Struct): boolean {
    return this.#planOf(struct) !== undefined
  }

  /** Drops the gated fields. `current` is the stored object, or undefined for a new object. */
  drop(object: KubeObject, current: KubeObject | undefined, struct: Struct): KubeObject {
    const plan = this.#planOf(struct)
    if (plan === undefined) return object
    const wanted = new Set<string>()
    findUses(object, plan, wanted)
    if (wanted.size === 0) return object
    const kept = new Set<string>()
    if (current !== undefined) findUses(current, plan, kept, true)
    for (const gate of strictGates) kept.delete(gate)
    if ([...wanted].every((use) => kept.has(use))) return object
    return { ...object, ...dropped(object, plan, kept) }
  }

  /**
   * Returns the positions of gated fields in a type. The result is cached, because it depends only
   * on the types and the gates.
   */
  #planOf(schema: Schema): Plan | undefined {
    if (schema.type === 'list' || schema.type === 'map') return this.#planOf(schema.of)
    if (schema.type !== 'struct') return undefined
    const known = this.#plans.get(schema)
    if (known !== undefined) return known.plan
    // A type that contains itself finds this entry, which ends the recursion. No such type has
    // gated fields.
    const entry: { plan: Plan | undefined } = { plan: undefined }
    this.#plans.set(schema, entry)
    const fields = schema.fields.flatMap((field) => {
      const below = unlooked.has(field.name) ? undefined : this.#planOf(field.schema)
      const off = (field.gates ?? []).filter(({ name }) => !this.#gates.isOn(name))
      const ofSpec =
        schema.packageName === 'core/v1'
          ? usedBySpec.get(`${schema.name} ${field.name}`)
          : undefined
      const gates = off.flatMap((gate) => gatedBy(gate, field, ofSpec))
      return gates.length === 0 && below === undefined ? [] : [{ name: field.name, gates, below }]
    })
    const { isOn, release } = this.#gates
    const own = (parts.get(`${schema.packageName} ${schema.name}`) ?? []).filter(
      ({ gate, since = 0 }) => !isOn(gate) && release >= since,
    )
    if (fields.length > 0 || own.length > 0) entry.plan = { fields, parts: own }
    return entry.plan
  }
}

/** The positions of gated fields in a type. */
type Plan = {
  readonly fields: readonly {
    readonly name: string
    readonly gates: readonly Gated[]
    readonly below: Plan | undefined
  }[]
  readonly parts: readonly GatedPart[]
}

/**
 * A gated field. `use` is the key under which the use of the gate is recorded: the gate alone for
 * gates that count as in use as a whole, otherwise the gate and the field. If `inner` is set, the
 * gate applies only to the field `inner` within this field.
 */
type Gated = {
  readonly use: string
  readonly inner: string | undefined
  readonly isPointer: boolean
  readonly reset: Json | undefined
  readonly isUnusedWhenEmpty: boolean
  /** Whether another field determines if the gate counts as in use. */
  readonly isUsedElsewhere: boolean
}

function gatedBy(
  gate: FieldGate,
  { name, isPointer, schema }: Field,
  usedElsewhere: string | undefined,
): Gated[] {
  const isWhole = wholeGates.has(gate.name) || strictGates.has(gate.name)
  const useOf = (path: string): string => (isWhole ? gate.name : `${gate.name} ${path}`)
  const reset = resetTo.get(gate.name)
  const isUnusedWhenEmpty = unusedWhenEmpty.has(gate.name)
  const isUsedElsewhere = usedElsewhere !== undefined
  const common = { reset, isUnusedWhenEmpty, isUsedElsewhere }
  if (gate.of.length === 0)
    return [{ use: usedElsewhere ?? useOf(name), inner: undefined, isPointer, ...common }]
  return gate.of.map((inner) => ({
    use: useOf(`${name}.${inner}`),
    inner,
    isPointer: schema.type === 'struct' && schema.byName.get(inner)?.isPointer === true,
    ...common,
  }))
}

function findUses(value: Json | undefined, plan: Plan, uses: Set<string>, isStored = false): void {
  if (Array.isArray(value)) {
    if (isDivided()) findUsesInParts(value, plan, uses, isStored)
    else for (const item of value) findUses(item, plan, uses, isStored)
    return
  }
  if (!isFields(value)) return
  for (const { name, gates, below } of plan.fields) {
    const field = value[name]
    if (field === undefined || field === null) continue
    for (const { use, inner, isPointer, reset, isUnusedWhenEmpty, isUsedElsewhere } of gates) {
      if (isStored && isUsedElsewhere) continue
      const gated = inner === undefined ? field : isFields(field) ? field[inner] : undefined
      if (isStored && isUnusedWhenEmpty && isWithoutContent(gated)) continue
      if (gated !== reset && isSet(gated, isPointer)) uses.add(use)
    }
    if (below !== undefined) findUses(field, below, uses, isStored)
  }
  for (const part of plan.parts) {
    const isUsed = isStored && part.isKept !== undefined ? part.isKept(value) : part.isUsed(value)
    if (isUsed) uses.add(part.gate)
  }
}

const newSet = (): Set<string> => new Set()

function findUsesInParts(
  items: readonly Json[],
  plan: Plan,
  uses: Set<string>,
  isStored: boolean,
): void {
  const found = eachItem('items with gated fields', items, newSet, (inItems, item) => {
    findUses(item, plan, inItems, isStored)
    return true
  })
  for (const use of found) uses.add(use)
}

/** Whether a value is set. A value that Go's omitempty would leave out does not count as set. */
const isSet = (value: Json | undefined, isPointer: boolean): boolean =>
  value !== undefined &&
  value !== null &&
  (isPointer || (value !== 0 && !(Array.isArray(value) && value.length === 0)))

const isWithoutContent = (value: Json | undefined): boolean =>
  isFields(value) ? Object.values(value).every(isWithoutContent) : value === undefined

function dropped(value: Fields, plan: Plan, kept: ReadonlySet<string>): Fields {
  const changed: { [name: string]: Json | undefined } = { ...value }
  for (const { name, gates, below } of plan.fields) {
    for (const { use, inner, reset } of gates) {
      const field = changed[name]
      if (kept.has(use)) continue
      if (inner === undefined) {
        if (field !== undefined && reset !== undefined) changed[name] = reset
        else delete changed[name]
      } else if (isFields(field) && inner in field) {
        const { [inner]: _, ...rest } = field
        if (Object.keys(rest).length === 0 && goneWhenEmpty.has(name)) delete changed[name]
        else changed[name] = rest
      }
    }
    const field = changed[name]
    if (below === undefined || field === undefined) continue
    const rest = droppedBelow(field, below, kept)
    const isEmptied = goneWhenEmpty.has(name) && isFields(rest) && Object.keys(rest).length === 0
    if (isEmptied && isFields(field) && Object.keys(field).length > 0) delete changed[name]
    else changed[name] = rest
  }
  return plan.parts.reduce<Fields>(
    (rest, part) => (kept.has(part.gate) ? rest : part.drop(rest)),
    changed,
  )
}

function droppedBelow(value: Json, plan: Plan, kept: ReadonlySet<string>): Json {
  if (Array.isArray(value)) return value.map((item) => droppedBelow(item, plan, kept))
  return isFields(value) ? dropped(value, plan, kept) : value
}
