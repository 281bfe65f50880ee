/**
 * Checks the length of functions (docs/style.md, section 3): a function, method, constructor or
 * accessor in src/, test/, bench/ and scripts/ has at most 70 lines. Callbacks of `describe` and
 * `suite` are exempt. Generated files are skipped, because they contain tables instead of
 * functions. Prints every function that is too long, and exits with 1 if there is one.
 */
import { join, relative } from 'node:path'
import { API } from 'typescript/unstable/sync'
import {
  type FunctionLikeDeclaration,
  isArrowFunction,
  isCallExpression,
  isConstructorDeclaration,
  isFunctionLikeDeclaration,
  isPropertyAssignment,
  isPropertyDeclaration,
  isVariableDeclaration,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast'

const LINES_MAX = 70

const root = join(import.meta.dirname, '..', '..')
const checked = /^(?:src|test|bench|scripts)\//

const api = new API({ cwd: root })
const [project] = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects()
if (project === undefined) throw new Error('tsconfig.json cannot be opened')
const { program } = project
const faults: string[] = []
let files = 0
for (const name of program.getSourceFileNames()) {
  const path = relative(root, name)
  const file = checked.test(path) ? program.getSourceFile(name) : undefined
  if (file === undefined) continue
  files++
  for (const fault of faultsIn(file)) faults.push(`${path}:${fault}`)
}
api.close()
for (const fault of faults) console.error(fault)
console.log(`function-length: ${files} files, ${faults.length} faults`)
process.exitCode = faults.length > 0 ? 1 : 0

function faultsIn(file: SourceFile): string[] {
  const found: string[] = []
  const visit = (node: Node): void => {
    if (isFunctionLikeDeclaration(node) && !isSuiteCallback(node)) {
      // Begin at the function itself, so that the comment above it does not count.
      const start = node.getStart(file)
      const lines = file.text.slice(start, node.end).split('\n').length
      if (lines > LINES_MAX) {
        const line = file.text.slice(0, start).split('\n').length
        found.push(`${line}: ${nameOf(node)} has ${lines} lines; at most ${LINES_MAX} are allowed`)
      }
    }
    node.forEachChild((child) => {
      visit(child)
    })
  }
  visit(file)
  return found
}

function isSuiteCallback({ parent }: Node): boolean {
  return isCallExpression(parent) && /^(?:describe|suite)(?:\.|$)/.test(parent.expression.getText())
}

/**
 * Returns the name of a function, of the variable that it is assigned to, or of the test whose
 * callback it is.
 */
function nameOf(node: FunctionLikeDeclaration): string {
  if (isConstructorDeclaration(node)) return 'constructor'
  const { parent } = node
  const isHeld =
    isVariableDeclaration(parent) || isPropertyAssignment(parent) || isPropertyDeclaration(parent)
  const name = isArrowFunction(node) ? undefined : node.name
  const named = name ?? (isHeld ? parent.name : undefined)
  if (named !== undefined) return named.getText()
  if (!isCallExpression(parent)) return 'a function'
  const callee = parent.expression.getText()
  const [title] = parent.arguments
  return `the callback of ${title === node ? callee : `${callee} ${title?.getText()}`}`
}
