import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { addIds, readIds } from './passing.ts'

void test('the list of passing scenarios stays sorted, keeps its header and never shrinks', () => {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-passing-'))
  const path = join(directory, 'passing.txt')
  try {
    writeFileSync(path, '# head\n\nm\n')
    assert.equal(addIds(path, ['z', 'a', 'm']), 2)
    assert.equal(addIds(path, ['a']), 0)
    assert.equal(readFileSync(path, 'utf8'), '# head\na\nm\nz\n')
    assert.deepEqual(readIds(path), ['a', 'm', 'z'])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

void test('the error for a missing list of passing scenarios names the file', () => {
  assert.throws(() => readIds('/nowhere/list.txt'), /\/nowhere\/list\.txt/)
})
