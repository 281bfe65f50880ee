import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { cacheFolder } from './cache-folder.ts'

function temporary(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-cache-'))
  t.after(() => rmSync(dir, { recursive: true }))
  return dir
}

test('the cache folder is created, and only its owner can access it', (t) => {
  const dir = temporary(t)
  const folder = join(dir, 'keelson')
  assert.equal(cacheFolder({ XDG_CACHE_HOME: dir }), folder)
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  assert.equal(cacheFolder({ XDG_CACHE_HOME: dir }), folder)
  assert.equal(cacheFolder({ HOME: dir }), join(dir, '.cache', 'keelson'))
})

test('no cache folder is used if no home folder is set, or if its path is relative', () => {
  assert.equal(cacheFolder({}), undefined)
  assert.equal(cacheFolder({ XDG_CACHE_HOME: 'cache' }), undefined)
})

const foreign: { readonly [what: string]: (folder: string, dir: string, t: TestContext) => void } =
  {
    'that others may write to': (folder) => {
      mkdirSync(folder)
      chmodSync(folder, 0o777)
    },
    'that its group may write to': (folder) => {
      mkdirSync(folder)
      chmodSync(folder, 0o770)
    },
    'that is a link': (folder, dir) => {
      mkdirSync(join(dir, 'other'), { mode: 0o700 })
      symlinkSync(join(dir, 'other'), folder)
    },
    'that is a file': (folder) => writeFileSync(folder, ''),
    'of another user': (folder, _, t) => {
      mkdirSync(folder, { mode: 0o700 })
      t.mock.property(process, 'getuid', () => statSync(folder).uid + 1)
    },
  }
for (const [what, place] of Object.entries(foreign)) {
  test(`a folder ${what} is not used`, (t) => {
    const dir = temporary(t)
    place(join(dir, 'keelson'), dir, t)
    assert.equal(cacheFolder({ XDG_CACHE_HOME: dir }), undefined)
  })
}
