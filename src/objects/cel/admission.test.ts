import assert from 'node:assert/strict'
import test from 'node:test'
import { admissionEnvironment, PolicyVariables } from './admission.ts'
import { compile } from './compile.ts'
import { int, list, outputNameOf, string } from './types.ts'

const variables = new PolicyVariables()
variables.declare('names', list(string))
variables.declare('count', int)
variables.declare('broken', undefined)

/** Returns the result type of an expression, or its first error. */
function outcome(text: string, hasAll = true): string {
  const names = {
    hasParams: hasAll,
    hasAuthorizer: hasAll,
    variables: hasAll ? variables.type : undefined,
  }
  const compiled = compile(text, admissionEnvironment({ release: 33, libraries: 32 }, names))
  return 'fault' in compiled ? (compiled.fault.split('\n')[0] ?? '') : outputNameOf(compiled.type)
}

const cases: readonly (readonly [string, string])[] = [
  ['object.spec.replicas > 3', 'bool'],
  ['request.userInfo.extra["a"]', 'list(string)'],
  ['request.namespace', 'string'],
  ['request', 'kubernetes.AdmissionRequest'],
  ['namespaceObject.metadata.creationTimestamp', 'google.protobuf.Timestamp'],
  ['namespaceObject.status.conditions[0].type', 'string'],
  ['null', 'null_type'],
  ['params.x', 'dyn'],
  ['authorizer.requestResource.check("get").allowed()', 'bool'],
  ['authorizer.group("").resource("pods").check("get")', 'kubernetes.authorization.Decision'],
  ['variables.names', 'list(string)'],
  ['variables.count + 1', 'int'],
  ['variables.broken.anything', 'dyn'],
  ['object.?spec', 'optional_type(dyn)'],
  ['variables.other', "ERROR: <input>:1:10: undefined field 'other'"],
  ['request.userInfo.other', "ERROR: <input>:1:17: undefined field 'other'"],
]

for (const [text, expected] of cases)
  test(`compiling ${text} gives ${expected}`, () => assert.equal(outcome(text), expected))

for (const name of ['params', 'variables', 'authorizer']) {
  test(`${name} is undeclared unless the environment includes it`, () => {
    assert.equal(
      outcome(name, false),
      `ERROR: <input>:1:1: undeclared reference to '${name}' (in container '')`,
    )
  })
}
