/** What is served with an older `--emulated-version`, as test/emulation recorded it from the reference. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkArgs } from '../../src/config/config.ts'
import { silent } from '../../src/lib/log.ts'
import { realSurroundings, startServer } from '../../src/server.ts'
import { runs } from '../emulation/runs.ts'
import { type Served, servedOf } from '../emulation/served.ts'
import { adminToken } from './support.ts'

const path = join(import.meta.dirname, '../emulation/recorded.json')
const recorded: { readonly [run: string]: Served } = JSON.parse(await readFile(path, 'utf8'))

/** Versions that ended before 1.33: they are not in the catalogue. */
const isGone = (line: string): boolean =>
  /^(?:flowcontrol.apiserver.k8s.io\/v1beta3|authentication.k8s.io\/v1beta1) /.test(line)
/** Gates of features that Keelson does not have are off. */
const absent =
  /name="(?:ContextualLogging|LoggingBetaOptions|PortForwardWebsockets|StrictCostEnforcement\w+|TranslateStream\w+)"/

for (const [run, args] of Object.entries(runs)) {
  test(run, async () => {
    const dir = await mkdtemp(join(tmpdir(), 'keelson-emulation-'))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rm(dir, { recursive: true }))
    const tokens = join(dir, 'tokens.csv')
    await writeFile(tokens, `${adminToken},admin,admin-uid,system:masters\n`)
    const usual = ['--store=memory', '--bind-address=127.0.0.1', `--cert-dir=${dir}`, `--token-auth-file=${tokens}`]
    const checked = checkArgs([...usual, '--disable-admission-plugins=ServiceAccount', ...args])
    if (checked.kind !== 'config') assert.fail(checked.faults.join('\n'))
    const server = stack.use(await startServer({ ...checked.config, port: 0 }, realSurroundings(silent)))
    const served = await servedOf(server.url)
    const wanted = recorded[run] ?? assert.fail(`${run} is not recorded`)
    assert.deepEqual(served.version, wanted.version)
    const shown = (lines: readonly string[]): string[] => lines.filter((line) => !isGone(line)).toSorted()
    assert.deepEqual(shown(served.resources), shown(wanted.resources))
    const gates = (lines: readonly string[]): string[] => lines.filter((line) => !absent.test(line)).toSorted()
    assert.deepEqual(gates(served.gates), gates(wanted.gates))
  })
}
