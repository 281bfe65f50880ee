import assert from 'node:assert/strict'
import { test } from 'node:test'
import { didYouMean } from './suggest.ts'

const names = ['PodSecurity', 'PodNodeSelector', 'NamespaceExists', 'ResourceQuota']

for (const [word, expected] of [
  ['ResourceQouta', 'did you mean ResourceQuota?'],
  ['RESOURCEQUOTA', 'did you mean ResourceQuota?'],
  ['Podd', 'did you mean one of PodSecurity, PodNodeSelector?'],
  ['Namespace', 'did you mean NamespaceExists?'],
  ['quota', 'did you mean ResourceQuota?'],
  ['SecurityContextDeny', undefined],
  ['po', undefined],
  ['', undefined],
] as const)
  test(`the suggestion for ${JSON.stringify(word)} is ${expected ?? 'none'}`, () => {
    assert.equal(didYouMean(word, names), expected)
  })

test('a word that is part of too many names gets no suggestion', () => {
  const many = Array.from({ length: 6 }, (_, at) => `PodNumber${at}`)
  assert.equal(didYouMean('Pod', many), undefined)
})
