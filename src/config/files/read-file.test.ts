import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { FILE_BYTES_MAX, readBytes, readTextFile, rereadBytes } from './read-file.ts'

const dir = mkdtempSync(join(tmpdir(), 'keelson-read-file-'))
after(() => rmSync(dir, { recursive: true }))

function fileOf(name: string, length: number): string {
  const path = join(dir, name)
  writeFileSync(path, 'some text')
  truncateSync(path, length)
  return path
}

test('files are read if their size does not exceed the limit', async () => {
  const path = fileOf('large', FILE_BYTES_MAX)
  const read = readBytes(path)
  assert.ok('bytes' in read)
  assert.equal(read.bytes.length, FILE_BYTES_MAX)
  assert.deepEqual(await rereadBytes(path), read.bytes)
  assert.deepEqual(readTextFile(fileOf('small', 4)), { text: 'some' })
  assert.deepEqual(readTextFile(fileOf('empty', 0)), { text: '' })
})

test('files that exceed the size limit are refused, even files of many gigabytes', async () => {
  for (const length of [FILE_BYTES_MAX + 1, 2 ** 33]) {
    const path = fileOf('too-large', length)
    const why = 'file too large: at most 16777216 bytes are allowed'
    assert.deepEqual(readBytes(path), { fault: `open ${path}: ${why}` })
    await assert.rejects(rereadBytes(path), { message: why })
  }
})

test('errors about files have the messages of Go', async () => {
  mkdirSync(join(dir, 'folder'))
  const folder = join(dir, 'folder')
  assert.deepEqual(readBytes(folder), { fault: `read ${folder}: is a directory` })
  const missing = join(dir, 'missing')
  assert.deepEqual(readTextFile(missing), { fault: `open ${missing}: no such file or directory` })
  await assert.rejects(rereadBytes(missing), { code: 'ENOENT' })
})
