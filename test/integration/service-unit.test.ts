/**
 * deploy/keelson.service: systemd takes every line of it, judges it as well closed, and the server
 * knows its flags.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { isFlagName } from '../../src/config/flags.ts'
import { findOnPath } from '../support/harness/packed.ts'

/**
 * Ten times systemd's figure of what a service could do, from 0 to 10: 1.3 is what network, sockets
 * and V8's compiler need.
 */
const EXPOSURE_MAX = 15
const COMMAND_MS_MAX = 60_000
const run = promisify(execFile)
const unit = readFileSync(
  join(import.meta.dirname, '..', '..', 'deploy', 'keelson.service'),
  'utf8',
)

test('the flags of the unit are flags of keelson serve', () => {
  const flags = [...(/^ExecStart=\S+ serve (.*)$/m.exec(unit)?.[1]?.matchAll(/--([^= ]+)/g) ?? [])]
  assert.ok(flags.length > 0)
  for (const [, name = ''] of flags) assert.ok(isFlagName(name), name)
})

test('systemd takes the unit', { skip: findOnPath('systemd-analyze') === undefined }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-unit-'))
  try {
    const file = join(dir, 'keelson.service')
    // It looks whether the program is there.
    writeFileSync(file, unit.replace('/usr/local/bin/keelson', process.execPath))
    const { stderr } = await run('systemd-analyze', ['verify', '--man=no', file], {
      timeout: COMMAND_MS_MAX,
    })
    assert.equal(stderr, '')
    // Fails if it is more.
    await run(
      'systemd-analyze',
      ['security', '--offline=true', `--threshold=${EXPOSURE_MAX}`, file],
      {
        timeout: COMMAND_MS_MAX,
      },
    )
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
