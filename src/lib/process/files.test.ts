import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { folderError, makeFolders } from './files.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-folders-'))
after(() => rmSync(folder, { recursive: true }))

test('missing folders are created, and the topmost of them is returned', () => {
  const path = join(folder, 'a', 'b', 'c')
  assert.equal(makeFolders(path, 0o700), join(folder, 'a'))
  for (const one of [path, join(folder, 'a')]) assert.equal(statSync(one).mode & 0o777, 0o700)
  assert.equal(makeFolders(path), undefined)
  assert.equal(makeFolders(`${path}/d/../e`), join(path, 'e'))
})

test('an error is thrown if a file exists where a folder should be created', () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  assert.throws(() => makeFolders(file), { code: 'EEXIST' })
  assert.throws(() => makeFolders(join(file, 'x')), { code: 'EEXIST' })
})

test('a folder that cannot be created is an error, not an endless loop', {
  skip: !existsSync('/proc/self'),
}, () => {
  assert.throws(() => makeFolders('/proc/keelson/x'), { code: 'ENOENT' })
})

test('a parent folder without search permission is an error', {
  skip: process.getuid?.() === 0,
}, () => {
  const closed = join(folder, 'closed')
  makeFolders(closed)
  chmodSync(closed, 0o000)
  assert.throws(() => makeFolders(join(closed, 'x')), { code: 'EACCES' })
  chmodSync(closed, 0o700)
})

test('the error for a folder on a full disk says to free space', () => {
  const advice = 'choose another folder'
  const full = [
    Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
    Object.assign(new Error('EDQUOT: disk quota exceeded'), { code: 'EDQUOT' }),
    new Error('database or disk is full'),
  ]
  for (const cause of full)
    assert.equal(
      folderError('/data', cause, advice).message,
      `/data cannot be used (${cause.message}): free space on its disk, or choose another folder`,
    )
  assert.equal(
    folderError('/data', new Error('EROFS'), advice).message,
    '/data cannot be used (EROFS): choose another folder',
  )
})
