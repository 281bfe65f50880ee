/** The operations of a path, independent of the OpenAPI version. v3.ts and v2.ts serialize them. */
import type { GroupVersionKind } from './names.ts'
import type { Parameter } from './parameters.ts'

export type Method = 'delete' | 'get' | 'head' | 'options' | 'patch' | 'post' | 'put'

export type OpenApiOperation = {
  readonly method: Method
  readonly id: string
  readonly description: string
  readonly tag: string
  /** The action of the operation in Kubernetes (`x-kubernetes-action`). */
  readonly action?: string
  readonly kind?: GroupVersionKind
  readonly parameters: readonly Parameter[]
  readonly body?: RequestBody
  /** Definition names of the responses, by status code. */
  readonly answers: readonly (readonly [code: number, name: string])[]
  readonly produces: readonly string[]
  /** Media types of the body. The v2 document also lists them for operations without a body. */
  readonly consumes: readonly string[]
}

/**
 * Request body. `name` is the name of its definition. The body has the media types that the
 * operation consumes.
 */
export type RequestBody = { readonly name: string; readonly isRequired: boolean }

export type PathItem = {
  readonly path: string
  /** Parameters that all operations of the path share. They are listed only once. */
  readonly parameters: readonly Parameter[]
  readonly operations: readonly OpenApiOperation[]
}

/** Stands for plain text where other responses have the name of a definition. */
export const anyText = ''

/**
 * Creates a path. Parameters that all operations share are moved to the path. Two operations share
 * a parameter if both contain the same parameter object.
 */
export function pathItem(path: string, operations: readonly OpenApiOperation[]): PathItem {
  const [first, ...others] = operations
  const common = (first?.parameters ?? []).filter((one) =>
    others.every(({ parameters }) => parameters.includes(one)),
  )
  return {
    path,
    parameters: common.toSorted(byName),
    operations: operations
      .map((operation) => ({
        ...operation,
        parameters: operation.parameters.filter((one) => !common.includes(one)).toSorted(byName),
      }))
      .toSorted((a, b) => (a.method < b.method ? -1 : 1)),
  }
}

const byName = (a: Parameter, b: Parameter): number =>
  a.name === b.name ? (a.in < b.in ? -1 : 1) : a.name < b.name ? -1 : 1

/** Returns the definitions that the paths reference directly. */
export function definitionsOf(items: readonly PathItem[]): Set<string> {
  const found = new Set<string>()
  for (const { answers, body } of items.flatMap(({ operations }) => operations)) {
    for (const [, name] of answers) if (name !== anyText) found.add(name)
    if (body !== undefined) found.add(body.name)
  }
  return found
}
