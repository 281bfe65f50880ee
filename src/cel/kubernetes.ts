/**
 * What Kubernetes offers to expressions, by version. New expressions may use what the previous minor version had, so that a
 * rollback keeps them working; stored ones may use everything.
 */
import { createEnvironment, type Environment, type Library } from './environment.ts'
import { listsLibrary, setsLibrary } from './library/lists.ts'
import { optionalsLibrary } from './library/optionals.ts'
import { regexLibrary } from './library/regex.ts'
import { standardLibrary } from './library/standard.ts'
import { basicStrings, formattedStrings } from './library/strings.ts'
import { twoVariableMacros } from './macros.ts'

/** In order of the minor version of Kubernetes that has them. */
const libraries: readonly (readonly [number, Library])[] = [
  [0, standardLibrary],
  [0, regexLibrary],
  [0, listsLibrary],
  [0, basicStrings],
  [29, optionalsLibrary],
  [29, formattedStrings],
  [29, setsLibrary],
  [32, { macros: twoVariableMacros }],
]

export type KubernetesVersion = '1.32' | '1.33'

export function kubernetesEnvironment(version: KubernetesVersion): Environment {
  const minor = Number(version.slice(2))
  return createEnvironment(libraries.filter(([since]) => since <= minor).map(([, library]) => library))
}
