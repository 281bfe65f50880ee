/** Runs `keelson check-crd` as a process. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createCacheHome, keelsonProgram } from '../support/harness/keelson.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-check-crd-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const summary = join(folder, 'summary.md')
const env = {
  ...process.env,
  HOME: folder,
  XDG_CACHE_HOME: createCacheHome(join(folder, 'cache')),
  GITHUB_STEP_SUMMARY: summary,
  KEELSON_UNFINISHED_RELEASES: '',
}

type Run = { readonly code: number | string; readonly output: string; readonly errors: string }

function checkCrd(...args: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(
      keelsonProgram,
      ['check-crd', ...args],
      { env, cwd: folder },
      (error, output, errors) =>
        resolve({ code: error === null ? 0 : (error.code ?? ''), output, errors }),
    )
  })
}

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          name:
            type: string
            maxLength: 63
            x-kubernetes-validations:
            - rule: '!format.dns1123Label().validate(self).hasValue()'
`

test('the exit status of keelson check-crd is 1 if a version refuses an object, and 0 otherwise', async () => {
  writeFileSync(join(folder, 'widgets.yaml'), definition)
  const refused = await checkCrd('--versions=1.31-1.34', 'widgets.yaml')
  assert.equal(refused.code, 1, refused.errors)
  assert.equal(
    refused.output.split('\n')[1],
    'refused  ok       ok       ok       widgets.yaml:1: customresourcedefinition.apiextensions.k8s.io/widgets.example.com',
  )
  assert.match(readFileSync(summary, 'utf8'), /<td>refused<\/td>(?:<td>ok<\/td>){3}/)
  const accepted = await checkCrd('--versions=1.32-1.33', 'widgets.yaml')
  assert.deepEqual(accepted.code, 0, accepted.output)
  assert.match(accepted.output, /^All versions accept the object\.$/m)
})

test('an error in a file names the file and the line', async () => {
  writeFileSync(join(folder, 'broken.yaml'), `${definition}---\nkind: [\n`)
  const { code, errors } = await checkCrd('broken.yaml')
  assert.equal(code, 1)
  assert.match(errors, /broken\.yaml:2\d: /)
  assert.match((await checkCrd('missing.yaml')).errors, /missing\.yaml cannot be read: .*ENOENT/)
})

test('keelson check-crd exits with 2 if its arguments are invalid, for example if a release is unfinished', async () => {
  const { code, errors } = await checkCrd('--versions=1.31-1.37', 'widgets.yaml')
  assert.equal(code, 2)
  assert.match(
    errors,
    /"1\.37" is not known\. Known versions: 1\.31, 1\.32, 1\.33, 1\.34, 1\.35, latest/,
  )
  assert.equal((await checkCrd()).code, 2)
})
