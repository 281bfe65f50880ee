import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder } from './folder-lock.ts'

test('if folders are created, their parents are flushed to the disk, and for an existing folder nothing is flushed', (t) => {
  const dir = fs.mkdtempSync(join(tmpdir(), 'keelson-folder-'))
  t.after(() => fs.rmSync(dir, { recursive: true }))
  const { openSync } = fs
  const names = new Map<number, string>()
  const flushed: (string | undefined)[] = []
  t.mock.method(fs, 'openSync', (path: string, flags: string) => {
    const descriptor = openSync(path, flags)
    names.set(descriptor, path)
    return descriptor
  })
  t.mock.method(fs, 'fsyncSync', (descriptor: number) => void flushed.push(names.get(descriptor)))
  syncBuiltinESMExports()
  try {
    makeFolder(join(dir, 'a', 'b', 'c'))
    assert.deepEqual(flushed, [join(dir, 'a', 'b'), join(dir, 'a'), dir])
    makeFolder(join(dir, 'a', 'b', 'c'))
    assert.equal(flushed.length, 3)
    assert.equal(fs.statSync(join(dir, 'a')).mode & 0o777, 0o700)
  } finally {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  }
})
