/**
 * Finds code in src/ whose work grows quadratically with the length of a list, or that overflows
 * the stack with a long list. Clients send lists of tens of thousands of items. Reports
 *
 *   - a scan of a list (`includes`, `find`, …) inside a loop, or inside a callback that is called
 *     for each item, if the list is declared outside of it;
 *   - a list of any length that is spread into the arguments of a call, such as `push(...list)`.
 *
 * Use a Set, a Map, or `addAll` of lib/scheduling/long-lists.ts instead. A comment `// Bounded: …`
 * in the same statement, or on the line before it, makes an exception and states what keeps the
 * list short. Lists that a module defines, tuples, list literals and lists of field errors count as
 * short. Prints every violation and exits with 1 if there is one.
 */
import { relative, join } from 'node:path'
import { API, type Checker, type Type } from 'typescript/unstable/sync'
import {
  type CallExpression,
  type Expression,
  isArrayLiteralExpression,
  isArrowFunction,
  isBlock,
  isCallExpression,
  isClassLikeDeclaration,
  isConditionalExpression,
  isDoStatement,
  isElementAccessExpression,
  isForInStatement,
  isForOfStatement,
  isForStatement,
  isFunctionExpression,
  isFunctionLikeDeclaration,
  isIdentifier,
  isNonNullExpression,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isSourceFile,
  isSpreadElement,
  isWhileStatement,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast'

/**
 * Maximum number of lines between a `// Bounded:` comment and its statement. A comment with a
 * greater distance belongs to other code.
 */
const COMMENT_LINES_MAX = 6

const root = join(import.meta.dirname, '..', '..')

/**
 * Matches folders whose code processes only input from administrators and developers, not from
 * clients.
 */
const trusted = /^src\/(?:config|entry|request\/(?:discovery|debug|tracing)|net\/egress)\//

const scans = new Set([
  'includes',
  'indexOf',
  'lastIndexOf',
  'find',
  'findIndex',
  'findLast',
  'findLastIndex',
])
for (const name of ['some', 'every', 'filter']) scans.add(name)

/** Functions that call their last argument once for each item. */
const iterations = new Set([
  ...scans,
  'map',
  'flatMap',
  'forEach',
  'reduce',
  'from',
  'faultsOfEach',
  'groupBy',
])

/**
 * Functions that accept lists of any length as separate arguments. All other functions with a rest
 * parameter, such as those of metrics, get only a few arguments.
 */
const takesMany = new Set([
  'push',
  'unshift',
  'splice',
  'concat',
  'max',
  'min',
  'assign',
  'fromCharCode',
])

type Candidate = {
  readonly node: Node
  readonly list: Expression
  readonly what: 'scan' | 'spread'
}

const api = new API({ cwd: root })
const [project] = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects()
if (project === undefined) throw new Error('tsconfig.json cannot be opened')
const { checker, program } = project
const faults: string[] = []
let files = 0
for (const name of program.getSourceFileNames()) {
  const path = relative(root, name)
  if (!path.startsWith('src/') || path.endsWith('.test.ts') || trusted.test(path)) continue
  const file = program.getSourceFile(name)
  if (file === undefined) continue
  files++
  for (const fault of faultsIn(file, checker)) faults.push(`${path}:${fault}`)
}
api.close()
for (const fault of faults) console.error(fault)
console.log(`quadratic: ${files} files, ${faults.length} faults`)
process.exitCode = faults.length > 0 ? 1 : 0

function faultsIn(file: SourceFile, types: Checker): string[] {
  const candidates: Candidate[] = []
  const visit = (node: Node): void => {
    if (isCallExpression(node)) for (const one of candidatesAt(node)) candidates.push(one)
    node.forEachChild((child) => {
      visit(child)
    })
  }
  visit(file)
  const found = types.getTypeAtLocation(candidates.map(({ list }) => list))
  const lines = file.text.split('\n')
  return candidates.flatMap(({ node, list, what }, at) => {
    const type = found[at]
    if (type === undefined || !isLong(type, types) || isOfModule(list, file)) return []
    const line = lineOf(file, node)
    const first = lineOf(file, statementAround(node))
    const above = lines.slice(Math.max(first - 2, line - COMMENT_LINES_MAX, 0), line)
    if (above.some((text) => text.includes('// Bounded: '))) return []
    const text = (lines[line - 1] ?? '').trim()
    return [
      `${line}: ${what === 'scan' ? 'a scan for each item' : 'a list spread into arguments'}: ${text}`,
    ]
  })
}

/** Returns the statement that contains a node. A statement can have several lines. */
function statementAround(node: Node): Node {
  let around = node
  while (around.parent !== undefined && !isBlock(around.parent) && !isSourceFile(around.parent)) {
    around = around.parent
  }
  return around
}

function candidatesAt(call: CallExpression): Candidate[] {
  const { expression: callee, arguments: given } = call
  const name = nameOf(callee)
  const spread = given.flatMap((one): Candidate[] =>
    isSpreadElement(one) && takesMany.has(name) && !isWritten(one.expression)
      ? [{ node: one, list: one.expression, what: 'spread' }]
      : [],
  )
  if (!isPropertyAccessExpression(callee) || !scans.has(name)) return spread
  const list = callee.expression
  const iteration = iterationAround(call)
  const isOutside = iteration !== undefined && isFromOutside(list, iteration)
  return isOutside ? [...spread, { node: callee.name, list, what: 'scan' }] : spread
}

/**
 * Returns the innermost iteration around a node, but not beyond its function. An iteration is a
 * loop over a list of any length, or a callback that is called for each item of such a list.
 */
function iterationAround(start: Node): Node | undefined {
  let child: Node = start
  for (let node = start.parent; node !== undefined; node = node.parent) {
    if (isForOfStatement(node) || isForInStatement(node)) {
      if (node.statement === child && !isShort(node.expression)) return node
    } else if (isWhileStatement(node) || isDoStatement(node) || isForStatement(node)) return node
    else if (isArrowFunction(node) || isFunctionExpression(node)) {
      const list = iteratedBy(node)
      if (list === undefined) return undefined
      if (!isShort(list)) return node
    } else if (isFunctionLikeDeclaration(node)) return undefined
    child = node
  }
  return undefined
}

/**
 * If a callback is called for each item of a list, returns this list. Otherwise returns undefined.
 */
function iteratedBy(callback: Node): Expression | undefined {
  const call = callback.parent
  if (
    call === undefined ||
    !isCallExpression(call) ||
    !call.arguments.some((one) => one === callback)
  )
    return undefined
  const { expression: callee } = call
  if (!iterations.has(nameOf(callee))) return undefined
  const [first] = call.arguments
  return first === callback && isPropertyAccessExpression(callee) ? callee.expression : first
}

function nameOf(callee: Expression): string {
  return isPropertyAccessExpression(callee) ? callee.name.text : callee.getText()
}

/** Returns whether the length of the list is fixed by the source code. */
function isShort(list: Expression): boolean {
  return isWritten(list) || isOfModule(list, list.getSourceFile())
}

/**
 * Whether the expression is a list literal into which no long list is spread, or a conditional
 * expression whose results are such literals.
 */
function isWritten(list: Expression): boolean {
  if (isParenthesizedExpression(list)) return isWritten(list.expression)
  if (isConditionalExpression(list)) return isWritten(list.whenTrue) && isWritten(list.whenFalse)
  return (
    isArrayLiteralExpression(list) &&
    list.elements.every((one) => !isSpreadElement(one) || isShort(one.expression))
  )
}

/**
 * Whether the list is declared outside of the iteration. In this case, each step of the iteration
 * scans the same list.
 */
function isFromOutside(list: Expression, iteration: Node): boolean {
  const base = baseOf(list)
  if (base === undefined) return false
  if (base.getText() === 'this') return true
  if (!isIdentifier(base)) return false
  const declared = checker.getSymbolAtLocation(base)?.valueDeclaration
  const node = declared?.resolve(project)
  return (
    node === undefined ||
    node.getSourceFile() !== iteration.getSourceFile() ||
    node.pos < iteration.pos ||
    node.end > iteration.end
  )
}

/**
 * Returns the variable from which an expression reads: `a` for `a.b`, `a[0]`, `a.map(f)`,
 * `Object.keys(a)` and `f(a)`.
 */
function baseOf(expression: Expression): Expression | undefined {
  if (
    isPropertyAccessExpression(expression) ||
    isElementAccessExpression(expression) ||
    isNonNullExpression(expression)
  )
    return baseOf(expression.expression)
  if (isParenthesizedExpression(expression)) return baseOf(expression.expression)
  if (isCallExpression(expression)) {
    const { expression: callee, arguments: given } = expression
    const isMethod =
      isPropertyAccessExpression(callee) &&
      !/^(?:Object|Array|Map|JSON)$/.test(callee.expression.getText())
    const [first] = given
    return isMethod ? baseOf(callee.expression) : first && baseOf(first)
  }
  return expression
}

/** Whether the expression reads a variable that is declared at the top level of a module. */
function isOfModule(list: Expression, file: SourceFile): boolean {
  const base = baseOf(list)
  if (base === undefined || !isIdentifier(base)) return false
  const node = checker.getSymbolAtLocation(base)?.valueDeclaration?.resolve(project)
  // A variable that is declared in another file was imported, so it belongs to a module.
  if (node === undefined || node.getSourceFile() !== file) return true
  for (let up = node.parent; up !== undefined; up = up.parent) {
    if (isSourceFile(up)) return true
    if (isFunctionLikeDeclaration(up) || isClassLikeDeclaration(up)) return false
  }
  return false
}

function isLong(type: Type, types: Checker): boolean {
  if (!types.isArrayType(type)) return false
  const text = types.typeToString(type)
  if (text.endsWith('FieldFault[]')) return false
  return !/^(?:readonly )?\(?(?:"[^"]*"(?: \| )?)+\)?\[\]$/.test(text)
}

function lineOf(file: SourceFile, node: Node): number {
  return file.text.slice(0, node.getStart(file)).split('\n').length
}
