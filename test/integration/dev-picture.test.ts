/** Tests that the picture of `keelson dev` in README.md shows the output of this version. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { drawSession, picture } from '../../scripts/terminal-picture.ts'
import { drawTerminal } from '../../scripts/terminal-picture/draw.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'
import { findOnPath } from '../support/harness/packed.ts'

/** Replaces the parts that differ between runs and releases. */
const withPlaceholders = (svg: string): string =>
  svg
    .replace(/Keelson \d[^<]*/, 'Keelson VERSION')
    .replace(/after \d+ ms/, 'after N ms')
    .replaceAll(/(Active +)\w+</g, '$1AGE<')

test('the stored picture of a keelson dev session shows the output of this version', async (t) => {
  for (const needed of ['python3', 'npx'])
    if (findOnPath(needed) === undefined) return t.skip(`needs ${needed}`)
  const folder = mkdtempSync(join(tmpdir(), 'keelson-picture-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const drawn = await drawSession(folder, keelsonProgram)
  assert.equal(
    withPlaceholders(readFileSync(picture, 'utf8')),
    withPlaceholders(drawn),
    'the output has changed: run node scripts/terminal-picture.ts',
  )
})

test('a picture of a terminal has the styles of the terminal, and its text is escaped', () => {
  const shown = 'a \u001b[1m\u001b[36m<b>\u001b[39m c\u001b[22m & d'
  const svg = drawTerminal([{ command: 'x', shown }], 'a "picture"')
  assert.ok(svg.includes('aria-label="a &quot;picture&quot;"'), svg)
  const line =
    'a <tspan class="bold cyan">&lt;b&gt;</tspan><tspan class="bold"> c</tspan> &amp; d</text>'
  assert.ok(svg.includes(line), svg)
})

test('an escape sequence that is not a style is reported, because the picture would be wrong', () => {
  const commands = [{ command: 'x', shown: '\u001b[31mred' }]
  assert.throws(() => drawTerminal(commands, ''), /no style for the escape sequence 31/)
})
