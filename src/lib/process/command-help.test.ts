import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printHelp } from './command-help.ts'

const word = 'abcdefghi'
const words = (count: number): string => Array.from({ length: count }, () => word).join(' ')

test('a help text has lines of at most 100 columns, and keeps the lines of examples', () => {
  const text = printHelp({
    usage: ['tool one', 'tool two'],
    description: `${words(11)}\n\n  tool one --dir=x`,
    sections: [
      {
        flags: {
          dir: { type: 'string', short: 'd', value: 'folder', shownDefault: '.', help: words(10) },
        },
      },
    ],
    notes: 'The end.',
  })
  assert.equal(
    text,
    `Usage: tool one
       tool two

${words(10)}
${word}

  tool one --dir=x

  -d, --dir=folder (default .)
        ${words(9)}
        ${word}
  --help
        Show this text.

The end.
`,
  )
})

test('empty lines separate the titled sections of a help text', () => {
  const flags = { all: { type: 'boolean', help: 'Everything.' } } as const
  const text = printHelp({
    usage: ['tool'],
    description: 'Works.',
    sections: [
      { title: 'One', flags },
      { title: 'Two', flags },
    ],
  })
  assert.ok(text.includes('\n\nOne:\n  --all\n        Everything.\n\nTwo:\n'), text)
})
