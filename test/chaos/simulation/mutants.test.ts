import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const folder = join(import.meta.dirname, 'mutants')

/**
 * Checks that each patch applies. Running the mutants takes too long for CI, so otherwise outdated
 * patches would not be detected.
 */
for (const name of readdirSync(folder)) {
  test(`the patch ${name} applies to the current code`, () => {
    execFileSync('git', ['apply', '--check', join(folder, name)], {
      cwd: join(folder, '..', '..', '..', '..'),
    })
  })
}
