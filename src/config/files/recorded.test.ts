/**
 * Replays cases that were recorded from kube-apiserver (test/recorded/config-files). Intentional
 * differences are listed in differences.ts.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { caseSets } from '../../../test/recorded/config-files/all-cases.ts'
import { differences } from '../../../test/recorded/config-files/differences.ts'
import { CaseFiles } from '../../../test/recorded/config-files/files.ts'
import {
  baseFlags,
  judge,
  judgeServer,
  type RawFlags,
  type Verdict,
} from '../../../test/recorded/config-files/judge.ts'

const files = new CaseFiles()
after(() => files[Symbol.dispose]())

const judgeAll = (flags: RawFlags): Verdict => judgeServer(flags, files.accountKeys)
const judges: { readonly [name: string]: (flags: RawFlags) => Verdict } = {
  server: judgeAll,
  'admission-flags': judgeAll,
  serving: judgeAll,
}

for (const [name, cases] of Object.entries(caseSets)) {
  const judgeAs = judges[name] ?? judge
  test(`a configuration file is accepted or rejected with the same message as in kube-apiserver: ${name}`, () => {
    const path = join(
      import.meta.dirname,
      '../../../test/recorded/config-files/recorded',
      `${name}.json`,
    )
    const recorded: { readonly [id: string]: Verdict } = JSON.parse(readFileSync(path, 'utf8'))
    assert.deepEqual(
      cases.map(({ id }) => id),
      Object.keys(recorded),
      'the cases have changed: record them with node test/recorded/config-files/record.ts --reference',
    )
    for (const one of cases) {
      const { flags, hide } = files.place(one)
      const { accepted, errors, warnings } = judgeAs({ ...baseFlags, ...flags })
      const said = { accepted, errors: errors.map(hide), warnings: warnings.map(hide) }
      const known = differences[one.id]
      if (known === undefined) assert.deepEqual(said, recorded[one.id], one.id)
      else {
        assert.deepEqual(said.errors, known.errors, one.id)
        assert.notDeepEqual(
          said,
          recorded[one.id],
          `${one.id} no longer differs: remove it from differences.ts`,
        )
      }
    }
  })
}
