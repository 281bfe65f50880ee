import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessReviewEnvironment, claimsEnvironment, userEnvironment } from './access.ts'
import { compile } from './compile.ts'
import type { Environment } from './environment.ts'
import { storedVersion } from './kubernetes.ts'

function faultOf(text: string, environment: Environment): string {
  const compiled = compile(text, environment)
  return 'fault' in compiled ? (compiled.fault.split('\n')[0] ?? '') : ''
}

test('a claim of a token has the type any, so macros cannot iterate over the claim', () => {
  const claims = claimsEnvironment(storedVersion(33))
  assert.equal(faultOf("claims.sub + 'a' == claims['b'].c", claims), '')
  assert.equal(faultOf('claims.a.groups.all(g, g == "x")', claims), '')
  const why =
    "expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)"
  assert.equal(faultOf('claims.groups.all(g, g == "x")', claims), `ERROR: <input>:1:7: ${why}`)
  assert.match(faultOf('user.username', claims), /undeclared reference to 'user'/)
})

test('expressions over users and requests are type-checked with the declared fields', () => {
  const user = userEnvironment(storedVersion(33))
  assert.equal(
    faultOf(
      "user.extra['a'].size() > 0 && user.groups.exists(g, g == user.uid + user.username)",
      user,
    ),
    '',
  )
  assert.match(faultOf('user.name', user), /undefined field 'name'/)
  const [all, plain] = [true, false].map((hasSelectors) =>
    accessReviewEnvironment(storedVersion(33), { hasSelectors }),
  )
  assert.ok(all !== undefined && plain !== undefined)
  const selector = "request.resourceAttributes.labelSelector.requirements[0].values[0] == 'a'"
  assert.equal(faultOf(selector, all), '')
  assert.match(faultOf(selector, plain), /undefined field 'labelSelector'/)
  assert.equal(
    faultOf("request.nonResourceAttributes.path == '/' || request.user in request.groups", plain),
    '',
  )
})

const reads = (text: string, field: string, variable?: string): boolean => {
  const compiled = compile(text, claimsEnvironment(storedVersion(33)))
  assert.ok('program' in compiled, text)
  return compiled.program.readsField(field, variable)
}

test('readsField finds the fields that an expression reads', () => {
  assert.ok(reads('claims.email', 'email', 'claims'))
  assert.ok(reads('claims.?email.orValue("a")', 'email', 'claims'))
  assert.ok(reads('has(claims.email)', 'email', 'claims'))
  assert.ok(reads('[1].map(x, {"a": claims.email.b})', 'email', 'claims'))
  assert.ok(!reads('claims["email"]', 'email', 'claims'))
  assert.ok(!reads('claims.other.email', 'email', 'claims'))
  assert.ok(reads('claims.other.email', 'email'))
})
