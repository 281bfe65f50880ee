/**
 * What a definition has been accepted with stays accepted: a schema that an update leaves as it is is not looked at again, so that a
 * later server with stricter limits does not lock it, and expressions in one that changes may use all that this server knows.
 */
import { type Fields, fieldsOf, isFields, itemsOf, textOf } from '../../../api/object.ts'
import { isSameValue } from '../../../schema/structural/value.ts'

export const schemaOf = (holder: Fields[string]): Fields[string] => fieldsOf(holder)['openAPIV3Schema']

export const hasStatus = (subresources: Fields[string]): boolean => isFields(fieldsOf(subresources)['status'])

export class AcceptedSchemas {
  readonly #versions: readonly Fields[]
  #expressions: ReadonlySet<string> | undefined

  /** Undefined: the definition is new. */
  constructor(spec: Fields | undefined) {
    this.#versions = itemsOf(spec?.['versions'])
  }

  /** More is forbidden in the schema of an object whose status is a part of its own. */
  has(schema: Fields, withStatus: boolean): boolean {
    return this.#versions.some(
      (version) =>
        hasStatus(version['subresources']) === withStatus && isSameValue(schemaOf(version['schema']), schema),
    )
  }

  /** Old definitions may have versions without a schema, and go on so. */
  get lacksSome(): boolean {
    return this.#versions.some(({ schema }) => !isFields(schemaOf(schema)))
  }

  hasExpression(text: string): boolean {
    this.#expressions ??= new Set(this.#versions.flatMap(({ schema }) => expressionsIn(fieldsOf(schemaOf(schema)))))
    return this.#expressions.has(text)
  }
}

function expressionsIn(schema: Fields): string[] {
  const parts = [...Object.values(fieldsOf(schema['properties'])), schema['items'], schema['additionalProperties']]
  return [
    ...itemsOf(schema['x-kubernetes-validations']).flatMap((one) => [
      textOf(one['rule']),
      textOf(one['messageExpression']),
    ]),
    ...parts.filter(isFields).flatMap(expressionsIn),
  ]
}
