/**
 * The shape of a kind as data: which fields a type has and in which order they are written. Printing, decoding and
 * pruning of built-in kinds all read the same shape.
 */
export type Shape =
  | { readonly type: 'string' }
  | { readonly type: 'boolean' }
  | { readonly type: 'int64' }
  /** Seconds in RFC 3339, UTC. */
  | { readonly type: 'time' }
  /** Base64. */
  | { readonly type: 'bytes' }
  /** Any JSON object, kept as it is. */
  | { readonly type: 'any' }
  | { readonly type: 'list'; readonly of: Shape; readonly goName: string }
  | { readonly type: 'map'; readonly of: Shape; readonly goName: string }
  | Struct

export type Struct = { readonly type: 'struct'; readonly goName: string; readonly fields: readonly Field[] }

export type Field = {
  readonly name: string
  readonly shape: Shape
  /**
   * When the field is left out: `empty` when it has the zero value of its type, `absent` only when it was not given,
   * `never`: then the zero value is written.
   */
  readonly omit: 'empty' | 'absent' | 'never'
}

// Short ways to write a shape.

export const string: Shape = { type: 'string' }
export const boolean: Shape = { type: 'boolean' }
export const int64: Shape = { type: 'int64' }
export const time: Shape = { type: 'time' }
export const bytes: Shape = { type: 'bytes' }
export const anything: Shape = { type: 'any' }
export const strings: Shape = { type: 'list', of: string, goName: '[]string' }
export const stringMap: Shape = { type: 'map', of: string, goName: 'map[string]string' }
export const bytesMap: Shape = { type: 'map', of: bytes, goName: 'map[string][]uint8' }

export const struct = (goName: string, fields: readonly Field[]): Struct => ({ type: 'struct', goName, fields })
export const listOf = (of: Struct): Shape => ({ type: 'list', of, goName: `[]v1.${of.goName}` })

/** Left out when it has the zero value. */
export const field = (name: string, shape: Shape): Field => ({ name, shape, omit: 'empty' })
/** A pointer in Go: left out only when it was not given. */
export const optional = (name: string, shape: Shape): Field => ({ name, shape, omit: 'absent' })
export const always = (name: string, shape: Shape): Field => ({ name, shape, omit: 'never' })

// What all kinds have. The order of fields is that of Go's types.

const ownerReference = struct('OwnerReference', [
  always('apiVersion', string),
  always('kind', string),
  always('name', string),
  always('uid', string),
  optional('controller', boolean),
  optional('blockOwnerDeletion', boolean),
])

const managedFieldsEntry = struct('ManagedFieldsEntry', [
  field('manager', string),
  field('operation', string),
  field('apiVersion', string),
  optional('time', time),
  field('fieldsType', string),
  optional('fieldsV1', anything),
  field('subresource', string),
])

export const objectMeta = struct('ObjectMeta', [
  field('name', string),
  field('generateName', string),
  field('namespace', string),
  field('selfLink', string),
  field('uid', string),
  field('resourceVersion', string),
  field('generation', int64),
  always('creationTimestamp', time),
  optional('deletionTimestamp', time),
  optional('deletionGracePeriodSeconds', int64),
  field('labels', stringMap),
  field('annotations', stringMap),
  field('ownerReferences', listOf(ownerReference)),
  field('finalizers', strings),
  field('managedFields', listOf(managedFieldsEntry)),
])

export const metadata: Field = field('metadata', objectMeta)
