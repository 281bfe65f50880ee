/**
 * Reads the file of `--authorization-policy-file`. Each line is an ABAC policy. A policy has the
 * version abac.authorization.kubernetes.io/v1beta1, or is unversioned (v0 in kube-apiserver).
 */
import { type Fields, fieldsOf, textOf } from '../../api/object.ts'
import { authenticatedGroup } from '../../api/user.ts'
import { decodeFile, type FileFault, goBlanks } from './decode-file.ts'
import { abacScheme } from './schemes.ts'

/** Maximum length of a line. Go's scanner fails on longer lines. */
const LINE_BYTES_MAX = 64 * 1024 - 1

/**
 * A rule. `*` matches everything; any other value matches only itself. A nonResourcePath can also
 * end in `*`, to match all paths with that prefix.
 *
 * An empty apiGroup means the core group. An empty namespace matches requests without a namespace:
 * those for cluster-scoped resources and for all namespaces. An empty resource or nonResourcePath
 * matches no request. An empty user or group is not compared, but a rule in which both are empty
 * matches no user.
 */
export type AbacRule = {
  readonly user: string
  readonly group: string
  readonly isReadOnly: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly namespace: string
  readonly nonResourcePath: string
}

export type AbacPolicy = {
  readonly rules: readonly AbacRule[]
  readonly warnings: readonly string[]
}

/**
 * Blank lines and comments. The parser skips them, even if they begin with characters that only Go
 * considers to be spaces.
 */
const skipped = new RegExp(`^[${goBlanks}]*(?:#|$)`)

/** Parses the text of a file. Only the first error is reported. A byte order mark is skipped. */
export function readAbacPolicy(
  text: string,
  path: string,
): AbacPolicy | (FileFault & Pick<Partial<AbacPolicy>, 'warnings'>) {
  const rules: AbacRule[] = []
  let hasOld = false
  const where = 'See docs/admin/authorization.md#abac-mode for ABAC file format details.'
  const warnings = (): string[] =>
    hasOld ? [`Policy file ${path} contained unversioned rules. ${where}`] : []
  for (const [at, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    if (Buffer.byteLength(line) > LINE_BYTES_MAX) {
      return {
        fault: `error reading policy file ${path}: bufio.Scanner: token too long`,
        warnings: warnings(),
      }
    }
    if (skipped.test(line)) continue
    const read = readRule(line.replace(/\r$/, ''))
    if ('fault' in read) {
      return {
        fault: `error reading policy file ${path}, line ${at + 1}: ${line.replace(/\r$/, '')}: ${read.fault}`,
      }
    }
    rules.push(read.rule)
    hasOld ||= read.isOld
  }
  return { rules, warnings: warnings() }
}

/**
 * Parses a line. A line without a kind or apiVersion is unversioned. Such a line must not have the
 * apiVersion v1beta1.
 */
function readRule(line: string): Line | FileFault {
  const decoded = decodeFile(Buffer.from(line), abacScheme, {
    byDefault: { kind: 'Policy', apiVersion: 'abac.authorization.kubernetes.io/v0' },
  })
  if ('fault' in decoded) return decoded
  const { fields, known, isVersioned } = decoded
  if (known.goName === 'v0.Policy') return { rule: oldRule(fields), isOld: !isVersioned }
  if (!isVersioned)
    return { fault: `converting (${known.goName}) to (v0.Policy): unknown conversion` }
  return { rule: forEverybody(specOf(fieldsOf(fields['spec']))), isOld: false }
}

type Line = { readonly rule: AbacRule; readonly isOld: boolean }

const specOf = (spec: Fields): AbacRule => ({
  user: textOf(spec['user']),
  group: textOf(spec['group']),
  isReadOnly: spec['readonly'] === true,
  apiGroup: textOf(spec['apiGroup']),
  resource: textOf(spec['resource']),
  namespace: textOf(spec['namespace']),
  nonResourcePath: textOf(spec['nonResourcePath']),
})

/** Replaces the user or group `*` of a policy by the group of all authenticated users. */
const forEverybody = (rule: AbacRule): AbacRule =>
  rule.user === '*' || rule.group === '*' ? { ...rule, user: '', group: authenticatedGroup } : rule

/** Converts an unversioned policy. In such a policy, an absent field matches everything. */
function oldRule(fields: Fields): AbacRule {
  const rule = specOf(fields)
  const isForAll = rule.user === '' && rule.group === ''
  const isEverywhere = rule.namespace === '' && rule.resource === ''
  return forEverybody({
    ...rule,
    group: isForAll ? authenticatedGroup : rule.group,
    apiGroup: '*',
    resource: rule.resource || '*',
    namespace: rule.namespace || '*',
    nonResourcePath: isEverywhere ? '*' : '',
  })
}
