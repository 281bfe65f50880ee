/** What can be asked for at a path, in no particular version of OpenAPI: v3.ts and v2.ts print it. */
import type { GroupVersionKind } from './names.ts'
import type { Parameter } from './parameters.ts'

export type Method = 'delete' | 'get' | 'head' | 'options' | 'patch' | 'post' | 'put'

export type OpenApiOperation = {
  readonly method: Method
  readonly id: string
  readonly description: string
  readonly tag: string
  /** What Kubernetes calls it, and the kind it is done to. */
  readonly action?: string
  readonly kind?: GroupVersionKind
  readonly parameters: readonly Parameter[]
  readonly body?: RequestBody
  /** The definition of what comes back, by status code. */
  readonly answers: readonly (readonly [code: number, name: string])[]
  readonly produces: readonly string[]
  /** Of those that take no body the v2 document says it too. */
  readonly consumes: readonly string[]
}

/** In the types that the operation consumes. */
export type RequestBody = { readonly name: string; readonly isRequired: boolean }

export type PathItem = {
  readonly path: string
  /** Those that all of its operations have; they are told once. */
  readonly parameters: readonly Parameter[]
  readonly operations: readonly OpenApiOperation[]
}

/** A name of no definition: text. */
export const anyText = ''

/** Parameters are the same if they are the same row. */
export function pathItem(path: string, operations: readonly OpenApiOperation[]): PathItem {
  const [first, ...others] = operations
  const common = (first?.parameters ?? []).filter((one) => others.every(({ parameters }) => parameters.includes(one)))
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

/** All definitions that a document of these paths refers to itself. */
export function definitionsOf(items: readonly PathItem[]): Set<string> {
  const found = new Set<string>()
  for (const { answers, body } of items.flatMap(({ operations }) => operations)) {
    for (const [, name] of answers) if (name !== anyText) found.add(name)
    if (body !== undefined) found.add(body.name)
  }
  return found
}
