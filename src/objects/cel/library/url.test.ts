import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile } from '../compile.ts'
import { kubernetesEnvironment, storedVersion } from '../kubernetes.ts'

function evaluate(text: string): unknown {
  const compiled = compile(text, kubernetesEnvironment(storedVersion(33)))
  assert.ok('program' in compiled, text)
  const result = compiled.program.evaluate({}, 10_000)
  return 'value' in result ? result.value : result.error
}

test('getEscapedPath escapes a path again if the path is not correctly escaped', () => {
  assert.equal(evaluate('url("https://a/b%20c/é").getEscapedPath()'), '/b%20c/%C3%A9')
  assert.equal(evaluate('url("https://a/é/%C3%A9/%ff").getEscapedPath()'), '/%C3%A9/%C3%A9/%FF')
  assert.equal(evaluate('url("https://a/%C3%A9").getEscapedPath()'), '/%C3%A9')
})
