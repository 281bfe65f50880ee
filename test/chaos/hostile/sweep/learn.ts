/**
 * Finds items that the server accepts for each field, so that large objects can be stored. Sends a
 * small object as a dry run, and fixes the errors of the response: missing values, unsupported
 * values, forbidden fields.
 */
import { isFields, type Json } from '../../../../src/api/object.ts'
import type { Schema } from '../../../../src/objects/schema/schema.ts'
import { itemOf, objectText, sample, valueAt, withAt } from './bodies.ts'
import type { SweptField } from './fields.ts'
import { collectionOf } from './paths.ts'
import { type SweptServer, tokenOf } from './server.ts'

const ROUNDS_MAX = 15
/**
 * Number of items that are sent in an attempt. A few items are enough to detect whether duplicates
 * are rejected.
 */
const TRIED_ITEMS = 3
/** Strings of the formats that validation rules require. */
const texts = [
  'In',
  'Exists',
  '10.0.0.1',
  '10.0.0.0/24',
  'example.com/a',
  '/a',
  'a.example.com',
  'true',
  'A',
  'a/b',
  'https://a.example.com',
  'a=b',
  'iqn.2026-01.com.example:a',
  '1',
]

export type LearnedField = SweptField & {
  readonly item: Json
  readonly isValid: boolean
  /** Name of the object, if the kind accepts only this name. */
  readonly name: string | undefined
  /** Reason why the server rejected the last attempt. */
  readonly refusal: string
}

type Cause = { readonly reason: string; readonly message: string; readonly field: string }

export async function learn(server: SweptServer, field: SweptField): Promise<LearnedField> {
  const item = itemOf(field)
  const base: LearnedField = { ...field, item, isValid: true, name: undefined, refusal: '' }
  if (!field.target.isStored || field.isShared) return base
  const lastItem = field.path.lastIndexOf('0')
  const alone = lastItem > 0 ? withoutSiblings(base, field.path.slice(0, lastItem)) : undefined
  let last = base
  for (const candidate of alone === undefined ? [base] : [base, alone]) {
    last = await mended(server, candidate)
    if (last.isValid) return last
  }
  return { ...base, isValid: false, name: last.name, refusal: last.refusal }
}

async function mended(server: SweptServer, first: LearnedField): Promise<LearnedField> {
  let field = first
  let refusal = ''
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const causes = await causesOf(server, field)
    if (causes === undefined) return field
    refusal = causes[0] === undefined ? '' : `${causes[0].field}: ${causes[0].message}`
    const next = mend(field, causes, round)
    if (next === undefined) break
    field = next
  }
  return { ...field, isValid: false, refusal }
}

/**
 * Returns the reason why the server rejects an object with this field. Returns undefined if the
 * server accepts the object.
 */
async function causesOf(
  { client }: SweptServer,
  field: LearnedField,
): Promise<readonly Cause[] | undefined> {
  const { target, item, name } = field
  const body = objectText(
    { field, shape: 'distinct', bytesMax: Infinity, itemsMax: TRIED_ITEMS, item },
    { name: name ?? 's-0' },
  )
  const path = `${collectionOf(target)}?dryRun=All`
  const answer = await client.send({
    method: 'POST',
    path,
    token: tokenOf(target),
    type: 'application/json',
    body,
  })
  if (answer.status === 201) return undefined
  try {
    const {
      details,
      message,
    }: { details?: { causes?: readonly Partial<Cause>[] }; message?: string } = JSON.parse(
      answer.text,
    )
    const causes = (details?.causes ?? []).map(
      ({ reason = '', message: why = '', field: at = '' }) => ({
        reason,
        message: why,
        field: at,
      }),
    )
    return causes.length > 0 ? causes : [{ reason: '', message: message ?? '', field: '' }]
  } catch {
    return [{ reason: '', message: answer.text.slice(0, 200), field: '' }]
  }
}

/**
 * Changes the item or the seed object to fix the causes of the rejection. Returns undefined if
 * nothing can be changed.
 */
function mend(
  field: LearnedField,
  causes: readonly Cause[],
  round: number,
): LearnedField | undefined {
  let next = field
  for (const cause of causes) {
    if (cause.field === 'metadata.name' && field.target.seedName !== undefined)
      next = { ...next, name: field.target.seedName }
    else next = mendOne(next, cause, round) ?? next
  }
  return next === field ? undefined : next
}

function mendOne(
  field: LearnedField,
  { reason, message, field: named }: Cause,
  round: number,
): LearnedField | undefined {
  const steps = named.split(/[.[\]]+/).filter((step) => step !== '')
  const { path, target } = field
  const isInItem =
    path.every((step, at) => step === steps[at] || step === 'k') && steps.length > path.length
  const rest = isInItem ? steps.slice(path.length + 1) : steps
  const root: Schema = isInItem ? field.container.of : target.struct
  const schema = schemaAt(root, rest)
  const whole: Json = isInItem ? field.item : target.seed
  const changed = changedValue({ reason, message, round, value: valueAt(whole, rest), schema })
  if (changed === undefined || (!isInItem && isWithin(path, rest))) return undefined
  const value = changed === REMOVED ? withoutAt(whole, rest) : withAt(whole, rest, changed, root)
  if (isInItem) return { ...field, item: value }
  return isFields(value) ? { ...field, target: { ...target, seed: value } } : undefined
}

const isWithin = (path: readonly string[], rest: readonly string[]): boolean =>
  rest.length <= path.length && rest.every((step, at) => step === path[at])

const REMOVED = '@@removed@@'

type Change = Pick<Cause, 'reason' | 'message'> & {
  readonly round: number
  readonly value: Json | undefined
  readonly schema: Schema | undefined
}

function changedValue({ reason, message, round, value, schema }: Change): Json | undefined {
  if (schema === undefined) return undefined
  if (reason === 'FieldValueRequired') return sample(schema, 3)
  if (reason === 'FieldValueNotSupported') return /supported values: "([^"]*)"/.exec(message)?.[1]
  if (reason === 'FieldValueForbidden') return value === undefined ? undefined : REMOVED
  if (reason !== 'FieldValueInvalid' || (typeof value !== 'string' && value !== undefined))
    return undefined
  if (/CIDR/.test(message)) return '10.0.0.0/24'
  if (/IP address/.test(message)) return '10.0.0.1'
  return schema.type === 'string' ? texts[round % texts.length] : undefined
}

function withoutAt(value: Json, [step, ...rest]: readonly string[]): Json {
  if (step === undefined) return value
  if (Array.isArray(value))
    return value.map((one, at) => (`${at}` === step ? withoutAt(one, rest) : one))
  if (!isFields(value)) return value
  const { [step]: found, ...others } = value
  return rest.length === 0 || found === undefined
    ? others
    : { ...others, [step]: withoutAt(found, rest) }
}

/**
 * Replaces the list at `path` in the seed object by one item that has only the required fields.
 * Returns undefined if there is no list.
 */
function withoutSiblings(field: LearnedField, path: readonly string[]): LearnedField | undefined {
  const { target } = field
  const list = schemaAt(target.struct, path)
  if (list?.type !== 'list') return undefined
  const seed = withAt(target.seed, path, [sample(list.of)], target.struct)
  return isFields(seed) ? { ...field, target: { ...target, seed } } : undefined
}

function schemaAt(root: Schema, path: readonly string[]): Schema | undefined {
  let schema: Schema | undefined = root
  for (const step of path) {
    if (schema?.type === 'struct') schema = schema.byName.get(step)?.schema
    else if (schema?.type === 'list' || schema?.type === 'map') schema = schema.of
    else return undefined
  }
  return schema
}
