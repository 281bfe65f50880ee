import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultMinor, gitVersionOf, parseRelease, releasesFor, servedMinors } from './releases.ts'

const minors = [33, 34]

test('a release is chosen by its minor version, by any of its patch versions, or as the latest', () => {
  for (const [text, minor] of [
    ['1.33', 33],
    ['1.34', 34],
    ['1.34.x', 34],
    ['1.34.0', 34],
    ['1.34.14', 34],
    ['latest', 34],
  ] as const)
    assert.deepEqual(parseRelease(text, minors), { minor }, text)
})

test('an unknown version is refused with a list of the known versions', () => {
  for (const text of [
    '',
    '1',
    '1.3',
    '1.35',
    '1.35.1',
    '2.34',
    '01.34',
    '1.034',
    '1.34.',
    '1.34.y',
    '1.34.0.1',
    '1.34.0-rc.1',
    'v1.34',
    ' 1.34',
    'Latest',
    '1.34\n',
  ])
    assert.deepEqual(
      parseRelease(text, minors),
      {
        fault: `Kubernetes version ${JSON.stringify(text)} is not known. Known versions: 1.33, 1.34, latest`,
      },
      text,
    )
})

test('unfinished releases can be chosen only with an environment variable', () => {
  assert.deepEqual(releasesFor({}), servedMinors)
  assert.deepEqual(releasesFor({ KEELSON_UNFINISHED_RELEASES: '1' }), [33, 34, 35, 36, 37])
})

test('a server reports a patch version of its release', () => {
  assert.equal(gitVersionOf(33), 'v1.33.5')
  assert.equal(gitVersionOf(36), 'v1.36.3')
})

test('Keelson can serve its default release', () => {
  assert.ok(servedMinors.includes(defaultMinor))
})
