/**
 * Generates CEL expressions of admission policies. All requests are dry runs, because a stored
 * policy would apply to other cases.
 */
import type { JsonObject } from '../../../recorded/compat/json.ts'
import type { Choices } from '../choices.ts'
import { broken, Expressions, type Scope } from '../expressions.ts'
import type { Case } from '../step.ts'
import type { Input } from './input.ts'

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'

const scope: Scope = [
  ['object.spec.replicas', 'int'],
  ['object.metadata.name', 'string'],
  ['request.userInfo.username', 'string'],
  ['request.userInfo.groups', 'list<string>'],
  ['object.metadata.labels', 'map<string,string>'],
  ['request.operation', 'string'],
  ['namespaceObject.metadata.name', 'string'],
  ['variables.a', 'dyn'],
  ['object.x', 'dyn'],
  ["authorizer.group('').resource('pods').check('get').allowed()", 'bool'],
  ["authorizer.path('/x').check('get').reason()", 'string'],
  ['oldObject == null', 'bool'],
  ['request.dryRun', 'bool'],
]

export function* policyCase(choices: Choices, { grammar }: Input): Case {
  const expressions = new Expressions(choices, grammar, scope, { wrong: 0.03 })
  const make = (type: string): string => {
    const text = expressions.make(type, choices.weigh([4, 1], [4, 2], [1, 3]))
    return choices.chance(0.1) ? broken(choices, text) : text
  }
  for (let index = 0; index < 3; index++) {
    const body: JsonObject = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: '$ns-p' },
      spec: specOf(choices, make),
    }
    yield { id: `s${index}`, method: 'POST', path: POLICIES, query: { dryRun: 'All' }, body }
  }
}

function specOf(choices: Choices, make: (type: string) => string): JsonObject {
  const everything = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }
  const validations = Array.from({ length: choices.between(1, 5) }, () => ({
    expression: make('bool'),
    ...(choices.chance(0.3) ? { messageExpression: make('string') } : {}),
    ...(choices.chance(0.1) ? { reason: choices.pick(['Forbidden', 'Invalid', 'x']) } : {}),
  }))
  return {
    matchConstraints: { resourceRules: [everything] },
    validations,
    ...(choices.chance(0.5) ? { variables: variablesOf(choices, make) } : {}),
    ...(choices.chance(0.3)
      ? { matchConditions: [{ name: choices.pick(['c', 'a b', '']), expression: make('bool') }] }
      : {}),
    ...(choices.chance(0.3)
      ? {
          auditAnnotations: [
            { key: choices.pick(['k', 'a/b', '']), valueExpression: make('string') },
          ],
        }
      : {}),
    ...(choices.chance(0.2) ? { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } : {}),
  }
}

function variablesOf(choices: Choices, make: (type: string) => string): JsonObject[] {
  const first = {
    name: 'a',
    expression: make(choices.pick(['int', 'string', 'bool', 'map<string,int>'])),
  }
  const second = { name: choices.pick(['b', 'a', '1', 'x-y', 'if']), expression: 'variables.a' }
  return choices.chance(0.3) ? [first, second] : [first]
}
