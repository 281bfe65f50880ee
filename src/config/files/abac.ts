/**
 * `--authorization-policy-file`: each line is an ABAC policy, abac.authorization.kubernetes.io/v1beta1, or unversioned, which upstream
 * calls v0.
 */
import { type Fields, fieldsOf, textOf } from '../../api/object.ts'
import { authenticatedGroup } from '../../api/user.ts'
import { decodeFile, type FileFault } from './decode-file.ts'
import { abacScheme } from './schemes.ts'

/** `*` matches everything. An empty field matches nothing, except that an empty user or group is not checked if the other is set. */
export type AbacRule = {
  readonly user: string
  readonly group: string
  readonly isReadOnly: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly namespace: string
  readonly nonResourcePath: string
}

export type AbacPolicy = { readonly rules: readonly AbacRule[]; readonly warnings: readonly string[] }

/** Blank lines and lines that begin with `#` are skipped. Only the first error is reported. */
export function readAbacPolicy(text: string, path: string): AbacPolicy | FileFault {
  const rules: AbacRule[] = []
  let hasOld = false
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue
    const read = readRule(line)
    if ('fault' in read) return { fault: `error reading policy file ${path}, line ${at + 1}: ${line}: ${read.fault}` }
    rules.push(read.rule)
    hasOld ||= read.isOld
  }
  const where = 'See docs/admin/authorization.md#abac-mode for ABAC file format details.'
  return { rules, warnings: hasOld ? [`Policy file ${path} contained unversioned rules. ${where}`] : [] }
}

/** Without kind and apiVersion, a line is unversioned. */
function readRule(line: string): Line | FileFault {
  const decoded = decodeFile(Buffer.from(line), abacScheme, {
    byDefault: { kind: 'Policy', apiVersion: 'abac.authorization.kubernetes.io/v0' },
  })
  if ('fault' in decoded) return decoded
  const { fields, known } = decoded
  return known.goName === 'v0.Policy'
    ? { rule: oldRule(fields), isOld: true }
    : { rule: forEverybody(specOf(fieldsOf(fields['spec']))), isOld: false }
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

/** `*` as user or group stands for all authenticated users. */
const forEverybody = (rule: AbacRule): AbacRule =>
  rule.user === '*' || rule.group === '*' ? { ...rule, user: '', group: authenticatedGroup } : rule

/** In an unversioned policy, an absent field matches everything. */
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
