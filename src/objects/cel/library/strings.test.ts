import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile } from '../compile.ts'
import { kubernetesEnvironment, storedVersion } from '../kubernetes.ts'
import { atOnce } from '../turns.ts'

function evaluated(text: string, release: number): string {
  const result = compile(text, kubernetesEnvironment(storedVersion(release)))
  if (!('program' in result)) return result.fault
  const outcome = atOnce((slice) => result.program.inTurns({}, 1_000_000, slice))
  return 'error' in outcome ? outcome.error : JSON.stringify(outcome.value)
}

test('since 1.34, the last index in an empty text is -1 instead of an error', () => {
  assert.equal(evaluated("''.lastIndexOf('x') == -1", 33), 'index out of range: -1')
  assert.equal(evaluated("''.lastIndexOf('x') == -1", 34), 'true')
  assert.equal(evaluated("''.lastIndexOf('') == 0 && 'aba'.lastIndexOf('a') == 2", 34), 'true')
})
