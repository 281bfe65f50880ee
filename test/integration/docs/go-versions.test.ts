/**
 * Tests that the Go programs that CI builds use the same versions of their dependencies. Otherwise
 * Go would compile a dependency, and everything that imports it, once for each version.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')
/** The folders of kubectl and Helm, of two clients, and of the Go tests in the documentation. */
const folders = [
  'support/tools/clients',
  'clients/informer',
  'clients/operator',
  'support/tools/controller-runtime',
]
/** Modules whose packages the Go tests in the documentation do not import. */
const unused = new Set(['github.com/spf13/cobra'])

test('the Go programs that CI builds use the same version of each dependency', () => {
  const versions = new Map<string, Map<string, string>>()
  for (const folder of folders) {
    const text = readFileSync(join(root, folder, 'go.mod'), 'utf8')
    // A `replace` directive follows the requirements, and takes precedence over them.
    const required = text.matchAll(
      /^\s*(?:require )?([\w.-]+\.[\w./-]+) (?:=> \S+ )?(v\S+)(?: \/\/.*)?$/gm,
    )
    for (const [, name = '', version = ''] of required)
      if (!unused.has(name))
        versions.set(name, (versions.get(name) ?? new Map()).set(folder, version))
  }
  assert.ok(versions.size > 50)
  const different = [...versions].filter(([, one]) => new Set(one.values()).size > 1)
  assert.deepEqual(different, [])
})
