/**
 * Tests deploy/keelson.service: systemd accepts every line and rates the unit as well sandboxed,
 * and `keelson serve` knows its flags.
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
 * Maximum exposure level times ten. systemd rates exposure from 0 to 10. A rating below 1.3 is not
 * possible, because the server needs the network, sockets and V8's compiler.
 */
const EXPOSURE_MAX = 15
const COMMAND_MS_MAX = 60_000
const run = promisify(execFile)
const unit = readFileSync(
  join(import.meta.dirname, '..', '..', 'deploy', 'keelson.service'),
  'utf8',
)

test('keelson serve knows all flags of the systemd unit', () => {
  const flags = [...(/^ExecStart=\S+ serve (.*)$/m.exec(unit)?.[1]?.matchAll(/--([^= ]+)/g) ?? [])]
  assert.ok(flags.length > 0)
  for (const [, name = ''] of flags) assert.ok(isFlagName(name), name)
})

test('systemd accepts the unit file', {
  skip: findOnPath('systemd-analyze') === undefined,
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-unit-'))
  try {
    const file = join(dir, 'keelson.service')
    // systemd checks that the program exists.
    writeFileSync(file, unit.replace('/usr/local/bin/keelson', process.execPath))
    const { stderr } = await run('systemd-analyze', ['verify', '--man=no', file], {
      timeout: COMMAND_MS_MAX,
    })
    assert.equal(stderr, '')
    // The command fails if the exposure level is higher.
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
