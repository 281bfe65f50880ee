import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const folder = join(import.meta.dirname, 'mutants')

/**
 * The run that tries them takes too long for CI; a patch that no longer fits would be seen by
 * nobody until then.
 */
for (const name of readdirSync(folder)) {
  test(`${name} applies`, () => {
    execFileSync('git', ['apply', '--check', join(folder, name)], {
      cwd: join(folder, '..', '..', '..'),
    })
  })
}
