/**
 * The variables, functions and macros that an expression can use. An environment is created once,
 * and many expressions are compiled with it. Adding the variables of a schema to an existing
 * environment takes little time.
 */
import { type CelFunction, type FunctionPart, mergeFunctions } from './functions.ts'
import type { Macro, Macros } from './macros.ts'
import {
  anyType,
  bool,
  bytes,
  double,
  duration,
  int,
  list,
  map,
  nullType,
  opaque,
  parameter,
  string,
  type StructType,
  timestamp,
  type Type,
  uint,
} from './types.ts'

export type Library = {
  readonly functions?: readonly FunctionPart[]
  readonly macros?: Macros
  /** Types that expressions can use by name, such as `net.IP`. */
  readonly types?: readonly Type[]
}

export type Environment = {
  readonly variables: ReadonlyMap<string, Type>
  readonly functions: ReadonlyMap<string, CelFunction>
  readonly macros: Macros
  readonly types: ReadonlyMap<string, Type>
  /**
   * Returns the type of the objects that expressions can construct under a name. Returns undefined
   * if there is no such type.
   */
  readonly objects?: (name: string) => StructType | undefined
  /** Whether all items of a list or map literal must have the same type, as Kubernetes requires. */
  readonly isHomogeneous: boolean
  /** A prefix that expressions can omit from names. */
  readonly container: string
}

const standardTypes: readonly (readonly [string, Type])[] = [
  ['bool', bool],
  ['int', int],
  ['uint', uint],
  ['double', double],
  ['string', string],
  ['bytes', bytes],
  ['list', list(parameter('A'))],
  ['map', map(parameter('A'), parameter('B'))],
  ['null_type', nullType],
  ['type', anyType],
  ['google.protobuf.Timestamp', timestamp],
  ['google.protobuf.Duration', duration],
  ['optional_type', opaque('optional_type')],
]

export function createEnvironment(
  libraries: readonly Library[],
  { isHomogeneous = true, container = '' }: { isHomogeneous?: boolean; container?: string } = {},
): Environment {
  const macros = new Map<string, Macro>(libraries.flatMap((library) => [...(library.macros ?? [])]))
  const named = libraries.flatMap(({ types = [] }) =>
    types.flatMap((type) => ('name' in type ? [[type.name, type] as const] : [])),
  )
  return {
    variables: new Map(),
    functions: mergeFunctions(libraries.flatMap(({ functions = [] }) => functions)),
    macros,
    types: new Map([...standardTypes, ...named]),
    isHomogeneous,
    container,
  }
}

export function withVariables(
  environment: Environment,
  variables: { readonly [name: string]: Type },
): Environment {
  return {
    ...environment,
    variables: new Map([...environment.variables, ...Object.entries(variables)]),
  }
}
