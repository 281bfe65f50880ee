import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile } from './compile.ts'
import { patchEnvironment, storedVersion } from './kubernetes.ts'

function evaluate(text: string): unknown {
  const compiled = compile(text, patchEnvironment(storedVersion(33)))
  if ('fault' in compiled) return compiled.fault
  const done = compiled.program.evaluate({}, 10_000)
  return 'value' in done ? done.value : done.error
}

test('an expression can construct objects and read their fields', () => {
  assert.equal(evaluate('Object{spec: Object.spec{replicas: 3}}.spec.replicas'), 3n)
  assert.equal(evaluate('Object{a: 1} == Object{a: 1}'), true)
  assert.equal(evaluate('Object{a: 1} == Object{a: 2}'), false)
  assert.equal(evaluate('has(Object{?a: optional.none()}.a)'), false)
  assert.equal(evaluate('has(Object{?a: optional.of(1)}.a)'), true)
})

test('an expression can choose between constructed objects', () => {
  const a = '(1 == dyn(1) ? Object{a: 1} : Object{a: 2}).a'
  assert.equal(evaluate(a), 1n)
  assert.equal(evaluate(a.replace('==', '!=')), 2n)
  assert.equal(evaluate('[Object{a: 1}, Object{a: 2}].filter(o, o.a == 2)[0].a'), 2n)
  assert.equal(evaluate('type(Object{}) == Object'), 'reference to undefined type: Object')
})

test('an expression can construct JSON patch operations with escaped keys', () => {
  assert.equal(
    evaluate('[JSONPatch{op: "add", path: "/a/" + jsonpatch.escapeKey("b/c~d")}][0].path'),
    '/a/b~1c~0d',
  )
})

test('the fields of a JSON patch operation are type-checked', () => {
  assert.match(
    String(evaluate('JSONPatch{op: 1}')),
    /expected type of field 'op' is 'string' but provided type is 'int'/,
  )
  assert.match(String(evaluate('JSONPatch{other: 1}')), /undefined field 'other'/)
})
