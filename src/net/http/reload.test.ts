import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { FileReloader } from './reload.ts'

test('if a check of a file ends after a later check, the contents from the later check stay in use', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'keelson-reload-'))
  const path = join(dir, 'file')
  // Reading this large file takes long, so the second check finishes first.
  await writeFile(path, Buffer.alloc(64 * 1024 * 1024, 'x'))
  await writeFile(join(dir, 'next'), 'new')
  const used: (string | undefined)[] = []
  const use = ([text]: readonly string[]): void => void used.push(text?.slice(0, 3))
  using reloader = new FileReloader([{ path, text: 'old' }], {
    use,
    what: 'it',
    log: () => undefined,
  })
  const first = reloader.check()
  await sleep(5)
  await rename(join(dir, 'next'), path)
  await Promise.all([first, reloader.check()])
  assert.equal(used.at(-1), 'new')
  await rm(dir, { recursive: true })
})
