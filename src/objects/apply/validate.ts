/**
 * Validates a value by its merge type. Messages are those of kube-apiserver, which formats values
 * as Go does.
 */
import { FAULTS_CHARACTERS_MAX } from '../../api/field-fault.ts'
import { goPlain, goSyntax } from '../../api/go-value.ts'
import { type Fields, isFields, isNumber, type Json } from '../../api/object.ts'
import { BoundedTexts } from '../../lib/text/bounded-texts.ts'
import { eachItem, eachKey, isDivided } from '../../lib/scheduling/parts.ts'
import type { ListMerge, MergeType, ScalarMerge } from './merge-type.ts'
import { childOf } from './owned.ts'
import { itemElement, itemFault, printElement } from './path-element.ts'

const newFaults = (): BoundedTexts => new BoundedTexts(FAULTS_CHARACTERS_MAX)

/**
 * Returns the errors in an applied value. The list is empty if the value is valid. Null is always
 * valid.
 */
export const validateApplied = (value: Json, type: MergeType): readonly string[] =>
  validate(value, type, false)

/**
 * Does the same as `validateApplied`, but for an object that was not applied. Its lists may contain
 * several items with the same key.
 */
export const validateTyped = (value: Json, type: MergeType): readonly string[] =>
  validate(value, type, true)

function validate(value: Json, type: MergeType, allowsRepeats: boolean): readonly string[] {
  const faults = newFaults()
  const isVerbatim = type.form === 'struct' && type.isVerbatim === true
  visit(value, type, { above: undefined, element: '', faults, allowsRepeats, isVerbatim })
  return faults.all
}

/**
 * Validates a stored object of a built-in kind. Like `validateTyped`, it accepts several items with
 * the same key. Only kinds for which `mayOmitKeys` returns true can be invalid.
 */
export const validateStored = (wire: Json, type: MergeType): readonly string[] =>
  mayOmitKeys(type) ? validateTyped(wire, type) : []

type ListPresence = WeakMap<MergeType, boolean>
const omitting: ListPresence = new WeakMap()
const objectSets: ListPresence = new WeakMap()

/**
 * Whether a type contains lists whose items can omit their key, such as `secrets` of a
 * ServiceAccount.
 */
export const mayOmitKeys = (type: MergeType): boolean => hasList(type, isOmitting, omitting)

/**
 * Whether a type contains sets whose items can be maps or lists. Only custom kinds can have such
 * sets.
 */
export const hasSetsOfAny = (type: MergeType): boolean => hasList(type, isSetOfAny, objectSets)

const isOmitting = ({ keys }: ListMerge): boolean => keys.some((key) => key.default === undefined)
const isSetOfAny = ({ by, of }: ListMerge): boolean => by === 'value' && of.form !== 'scalar'

function hasList(type: MergeType, is: (list: ListMerge) => boolean, known: ListPresence): boolean {
  const found = known.get(type)
  if (found !== undefined) return found
  // Cache a result before the fields are visited, because they can contain the type again.
  known.set(type, false)
  const has = hasListIn(type, is, known)
  known.set(type, has)
  return has
}

function hasListIn(
  type: MergeType,
  is: (list: ListMerge) => boolean,
  known: ListPresence,
): boolean {
  switch (type.form) {
    case 'any':
    case 'scalar':
      return false
    case 'map':
      return hasList(type.of, is, known)
    case 'list':
      return is(type) || hasList(type.of, is, known)
    case 'struct':
      return [...type.fields.values()].some(({ below }) => hasList(below, is, known))
  }
}

/** Joins errors as kube-apiserver does. */
export const formatFaults = (faults: readonly string[]): string =>
  faults.length === 1
    ? (faults[0] ?? '')
    : `errors:${faults.map((fault) => `\n  ${fault}`).join('')}`

/** Where a value is in the object. The path is computed only for invalid values, which are rare. */
type ValuePosition = {
  readonly above: ValuePosition | undefined
  readonly element: string
  readonly faults: BoundedTexts
  readonly allowsRepeats: boolean
  /** Whether errors about values are not used as format strings. */
  readonly isVerbatim: boolean
}

function pathOf({ above, element }: ValuePosition): string {
  return above === undefined ? '' : pathOf(above) + printElement(element)
}

function visit(value: Json, type: MergeType, place: ValuePosition): void {
  if (value === null) return
  const { faults, isVerbatim } = place
  const formatted = (words: string): string => (isVerbatim ? words : formattedAgain(words))
  const refuse = (why: string): void => faults.add(() => `${pathOf(place)}: ${why}`)
  switch (type.form) {
    case 'any':
      return
    case 'scalar': {
      const why = scalarFault(value, type.scalar)
      if (why !== undefined) refuse(why)
      return
    }
    case 'list':
      if (!Array.isArray(value)) return refuse(formatted(`expected list, got &{${goPlain(value)}}`))
      return visitItems(value, type, place)
    case 'map':
    case 'struct':
      if (!isFields(value)) return refuse(formatted(`expected map, got &{${goPlain(value)}}`))
      if (isDivided()) visitInParts(value, { type, place })
      else for (const key in value) if (!visitField(value, key, { type, place })) return
  }
}

type VisitedValue = { readonly type: MergeType; readonly place: ValuePosition }

/**
 * Visits all fields of a value, in work that can be divided into parts. A visit that is interrupted
 * is repeated, so the errors of each field are first collected separately.
 */
function visitInParts(value: Fields, { type, place }: VisitedValue): void {
  const found = eachKey('validate fields', value, newFaults, (all, key) => {
    const faults = newFaults()
    const goesOn = visitField(value, key, { type, place: { ...place, faults } })
    all.addAll(faults.all)
    return goesOn
  })
  place.faults.addAll(found.all)
}

/**
 * Visits one field. Returns false if the remaining fields must be skipped, as in kube-apiserver.
 */
function visitField(value: Fields, key: string, { type, place }: VisitedValue): boolean {
  const { faults } = place
  const { element, below, isDeclared } = childOf(key, type)
  if (type.form === 'struct' && !isDeclared && type.isOpen !== true) {
    faults.add(() => `${pathOf(place)}.${key}: field not declared in schema`)
    return false
  }
  visit(value[key] ?? null, below, { ...place, above: place, element })
  return true
}

/**
 * Formats a message as kube-apiserver does before 1.34, which uses the message as a format string
 * by mistake. Therefore, each percent sign is printed like a format verb without an argument.
 */
const formattedAgain = (words: string): string =>
  words.replace(/%[-+# 0]*\d*(?:\.\d*)?(.)/gsu, (_, verb: string) =>
    verb === '%' ? '%' : `%!${verb}(MISSING)`,
  )

function visitItems(list: readonly Json[], type: ListMerge, place: ValuePosition): void {
  if (isDivided()) return visitItemsInParts(list, type, place)
  const seen = new Set<string>()
  for (const [at, item] of list.entries()) if (!visitItem(item, at, { type, place, seen })) return
}

function visitItemsInParts(list: readonly Json[], type: ListMerge, place: ValuePosition): void {
  const found = eachItem(
    'validate items',
    list,
    () => ({ seen: new Set<string>(), all: newFaults() }),
    ({ seen, all }, item, at) => {
      const faults = newFaults()
      const goesOn = visitItem(item, at, { type, place: { ...place, faults }, seen })
      all.addAll(faults.all)
      return goesOn
    },
  )
  place.faults.addAll(found.all.all)
}

type VisitedItem = {
  readonly type: ListMerge
  readonly place: ValuePosition
  readonly seen: Set<string>
}

/** Visits one item. Returns false if the remaining items must be skipped, as in kube-apiserver. */
function visitItem(item: Json, at: number, { type, place, seen }: VisitedItem): boolean {
  const { faults, allowsRepeats } = place
  const element = type.by === 'whole' ? `i:${at}` : itemElement(item, type)
  if (element === undefined) {
    faults.add(() => `${pathOf(place)}: element ${at}: ${itemFault(item, type)}`)
    return false
  }
  const isRepeated = type.by !== 'whole' && !allowsRepeats && seen.has(element)
  if (isRepeated)
    faults.add(() => `${pathOf(place)}: duplicate entries for key ${printElement(element)}`)
  visit(item, type.of, { ...place, above: place, element })
  if (type.by !== 'whole') seen.add(element)
  return true
}

function scalarFault(value: Json, scalar: ScalarMerge['scalar']): string | undefined {
  switch (scalar) {
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`
    case 'numeric':
      if (isNumber(value)) return undefined
      return `expected numeric (int or float), got ${goType(value)}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${goPlain(value)}}`
    case 'untyped':
      return typeof value === 'object' ? `expected any scalar, got &{${goPlain(value)}}` : undefined
  }
}

/** Returns the type of a value in the format of Go's `%T`. */
function goType(value: Json): string {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}
