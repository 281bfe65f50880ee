import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOfRelease } from './release-lines.ts'

const text = `
Pod
  name string 1
  old string 2 @33
  middle string 3 @33-34
  new string 4 @34+

Claim @34+
  name string 1

Last
  name string 1 default="a @x"
`

test('a line with a range of releases applies only to the releases in this range', () => {
  assert.equal(
    linesOfRelease(text, 33),
    '\nPod\n  name string 1\n  old string 2\n  middle string 3\n\n\nLast\n  name string 1 default="a @x"\n',
  )
})

test('the range of a line also applies to the indented lines below it', () => {
  assert.equal(
    linesOfRelease(text, 35),
    '\nPod\n  name string 1\n  new string 4\n\nClaim\n  name string 1\n\nLast\n  name string 1 default="a @x"\n',
  )
})
