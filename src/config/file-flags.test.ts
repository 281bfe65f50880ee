import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readsFiles, replacePaths } from './file-flags.ts'
import { flags, isFlagName } from './flags.ts'

const upper = (path: string): string => path.toUpperCase()

test('the flags that name files are exactly those whose help text describes a file', () => {
  // Exceptions: `cert-dir` and `audit-log-path` name files or folders that the server writes, and
  // the help texts of the other flags only mention files.
  const others = new Set(['cert-dir', 'testing', 'audit-log-path', 'audit-log-maxsize'])
  const described = Object.entries(flags)
    .filter(([, { help }]) => /\bfile\b|^Certificate and key/i.test(help.replaceAll(/--\S+/g, '')))
    .map(([name]) => name)
    .filter((name) => !others.has(name) && !name.endsWith('-automatic-reload'))
  const found = Object.keys(flags).filter(isFlagName).filter(readsFiles)
  assert.deepEqual(found, described)
})

test('replacePaths replaces every path in the value of a flag, but not the host names after certificate paths', () => {
  assert.equal(replacePaths('client-ca-file', '/a,b', upper), '/A,B')
  assert.equal(replacePaths('service-account-key-file', '/a,/b', upper), '/A,/B')
  assert.equal(replacePaths('tls-sni-cert-key', '/a,/b:shop.example', upper), '/A,/B:shop.example')
})
