import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { flags, isFlagName, type FlagName } from './flags.ts'
import { readMetrics } from './metrics.ts'
import { Values } from './values.ts'

function read(...given: readonly (readonly [string, string])[]) {
  const raw = new Map<FlagName, readonly string[]>()
  for (const [name, value] of given)
    if (isFlagName(name)) raw.set(name, [...(raw.get(name) ?? []), value])
  const values = new Values(flags, raw, [])
  const warnings: string[] = []
  const choice = readMetrics(values, 33, (text) => warnings.push(text))
  return { ...choice, faults: values.faults, warnings }
}

test('--allow-metric-labels accepts the values of one label without quotes, and of several labels with quotes', () => {
  assert.deepEqual(
    read(['allow-metric-labels', 'm,l=a,b']).allowedLabels,
    new Map([['m,l', new Set(['a', 'b'])]]),
  )
  assert.deepEqual(
    read(['allow-metric-labels', '"m,l=a,b","n,k=c"']).allowedLabels,
    new Map([
      ['m,l', new Set(['a', 'b'])],
      ['n,k', new Set(['c'])],
    ]),
  )
})

test('--allow-metric-labels takes precedence over the file of --allow-metric-labels-manifest, and an invalid file is ignored', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-metrics-'))
  try {
    const path = join(folder, 'labels.yaml')
    const manifest = ['allow-metric-labels-manifest', path] as const
    writeFileSync(path, '"m,l": "a,b"\n')
    assert.deepEqual(read(manifest).allowedLabels, new Map([['m,l', new Set(['a', 'b'])]]))
    assert.deepEqual(
      read(manifest, ['allow-metric-labels', 'n,k=c']).allowedLabels,
      new Map([['n,k', new Set(['c'])]]),
    )
    writeFileSync(path, '- a\n')
    const bad = read(manifest)
    assert.deepEqual([bad.allowedLabels.size, bad.warnings.length, bad.faults], [0, 1, []])
    assert.deepEqual(read(['allow-metric-labels-manifest', '/none']).warnings, [
      'Failed to read allow list manifest: open /none: no such file or directory',
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('--disabled-metrics disables metrics by name', () => {
  assert.deepEqual(
    read(['disabled-metrics', 'a,b'], ['disabled-metrics', 'c']).disabled,
    new Set(['a', 'b', 'c']),
  )
})
